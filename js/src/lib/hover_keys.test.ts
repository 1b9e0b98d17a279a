// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HoverKeys } from "./hover_keys";

let root: HTMLElement;
let field: HTMLInputElement;
let pressed: string[];
let heard: string[];
let done: AbortController;

function tell(target: EventTarget, type: string, facts: object = {}): Event {
  const event = new Event(type, { bubbles: !/enter|leave/.test(type), cancelable: true });
  for (const [name, value] of Object.entries(facts)) Object.defineProperty(event, name, { value });
  target.dispatchEvent(event);
  return event;
}

/** Moves the pointer, or by 0 px the page under it. */
const move = (px: number, timeStamp = 0) =>
  window.dispatchEvent(
    Object.defineProperties(new Event("pointermove"), {
      movementX: { value: px },
      movementY: { value: 0 },
      timeStamp: { value: timeStamp },
    }),
  );
const enter = (px = 1) => {
  tell(root, "pointerenter");
  move(px);
};
const press = (
  key: string,
  facts: object = {},
  target: EventTarget = document.activeElement ?? document.body,
) => tell(target, "keydown", { key, timeStamp: 0, ...facts });

beforeEach(() => {
  document.body.innerHTML = '<div id="viewer"><button>b</button></div><input><p tabindex="0"></p>';
  root = document.getElementById("viewer") as HTMLElement;
  field = document.querySelector("input") as HTMLInputElement;
  [pressed, heard, done] = [[], [], new AbortController()];
  const { signal } = done;
  new HoverKeys(root, ({ key }) => pressed.push(key), signal);
  const hear = (event: Event) => heard.push((event as KeyboardEvent).key);
  document.addEventListener("keydown", hear, { capture: true, signal });
});

afterEach(() => done.abort());

describe("the keyboard of a viewer under the pointer", () => {
  it("is taken before the page hears of it, also by keys that the viewer has no use for", () => {
    enter();
    const event = press("d");
    press("x");
    expect([pressed, heard, event.defaultPrevented]).toEqual([["d", "x"], [], true]);
    expect(root.className).toBe("tfp-takes-keys");
  });

  it("goes to another viewer that gets the focus, until the pointer is used again", () => {
    const other = document.querySelector("p") as HTMLElement;
    other.className = "tfp";
    enter();
    other.focus();
    press("d");
    expect([pressed, heard]).toEqual([[], ["d"]]);
    move(5, 2000);
    press("x");
    expect([pressed, heard]).toEqual([["x"], ["d"]]);
  });

  it("goes back when the pointer leaves, and when the viewer is gone", () => {
    enter();
    tell(root, "pointerleave");
    press("d");
    enter();
    done.abort();
    press("d");
    expect(pressed).toEqual([]);
    expect(heard).toEqual(["d"]);
  });

  it("leaves commands, the browser's keys and those of what has the focus in the viewer", () => {
    enter();
    press("s", { ctrlKey: true });
    press("s", { metaKey: true });
    press("d", { altKey: true });
    press("F5");
    press("Shift");
    press("d", {}, root.querySelector("button") as HTMLElement);
    expect([pressed, heard]).toEqual([[], ["s", "s", "d", "F5", "Shift", "d"]]);
  });

  it("is not taken by a viewer that comes under a resting pointer, until the pointer moves or the wheel turns", () => {
    enter();
    tell(root, "pointerleave");
    press("j");
    enter(0);
    press("j");
    tell(window, "wheel");
    press("w");
    expect([pressed, heard]).toEqual([["w"], ["j", "j"]]);
  });

  it("follows the focus after Tab, which no other part of the page hears", () => {
    enter();
    expect(press("Tab").defaultPrevented).toBe(false);
    press("ArrowDown");
    expect([pressed, heard]).toEqual([[], ["ArrowDown"]]);
  });
});

describe("text that is being typed", () => {
  beforeEach(() => field.focus());

  it("is not lost to a nudge, nor to a move between two keys", () => {
    enter(10);
    press("a");
    move(100, 500);
    press("b", { timeStamp: 600 });
    move(10, 2000);
    press("c", { timeStamp: 2100 });
    expect([pressed, heard]).toEqual([[], ["a", "b", "c"]]);
  });

  it("ends when the pointer moves on over the viewer, until the focus moves", () => {
    press("a");
    enter(0);
    move(20, 1500);
    move(20, 1520);
    press("w", { timeStamp: 1600 });
    (document.querySelector("p") as HTMLElement).focus();
    field.focus();
    tell(window, "focusin");
    press("b");
    expect([pressed, heard]).toEqual([["w"], ["a", "b"]]);
  });

  it("ends when the viewer is used, but not when the wheel scrolls the page", () => {
    enter();
    tell(root, "wheel");
    press("a");
    move(1);
    root.addEventListener("wheel", (event) => event.preventDefault(), { capture: true });
    tell(root, "wheel");
    press("w");
    expect([pressed, heard]).toEqual([["w"], ["a"]]);
  });
});
