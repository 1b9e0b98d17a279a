// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeModel } from "../lib/model.testing";
import tabs, { paneClass, type Traits } from "./index";

let model: FakeModel<Traits>;
let close: () => void;

function press(key: string): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}

const buttons = () => [...document.querySelectorAll<HTMLElement>("[role=tab]")];
const open = () =>
  [0, 1, 2].filter((k) => {
    const pane = document.querySelector(`.${paneClass("u", k)}`);
    return pane && getComputedStyle(pane).display !== "none";
  });

beforeEach(() => {
  document.body.innerHTML = `<div id="strip"></div>${[0, 1, 2].map((k) => `<p class="${paneClass("u", k)}"></p>`).join("")}`;
  model = new FakeModel<Traits>({
    names: ["Overview", "Steps", "Ops"],
    selected: 0,
    uid: "u",
    static_id: "",
  });
  close = tabs.render({ model, el: document.getElementById("strip") as HTMLElement });
});

describe("the tab strip", () => {
  it("shows one pane, and another after a click", () => {
    expect(open()).toEqual([0]);
    buttons()[2].click();
    expect(open()).toEqual([2]);
    expect([model.get("selected"), model.saves]).toEqual([2, 1]);
  });

  it("follows the kernel", () => {
    model.set("selected", 1);
    expect(open()).toEqual([1]);
    expect(buttons().map((tab) => tab.getAttribute("aria-selected"))).toEqual(["false", "true", "false"]);
  });

  it("is one stop for the tab key, and arrows go round", () => {
    expect(buttons().map((tab) => tab.tabIndex)).toEqual([0, -1, -1]);
    buttons()[0].focus();
    press("ArrowLeft");
    expect([document.activeElement, open()[0]]).toEqual([buttons()[2], 2]);
    press("ArrowRight");
    expect([document.activeElement, open()[0]]).toEqual([buttons()[0], 0]);
    press("End");
    expect(open()).toEqual([2]);
  });

  it("ties tabs and panes together for assistive technology", () => {
    const pane = document.querySelector(`.${paneClass("u", 1)}`);
    expect(pane?.getAttribute("role")).toBe("tabpanel");
    expect(pane?.getAttribute("aria-labelledby")).toBe(buttons()[1].id);
    expect(buttons()[1].getAttribute("aria-controls")).toBe(pane?.id);
  });

  it("lets hidden charts lay themselves out", async () => {
    const heard = vi.fn();
    window.addEventListener("resize", heard);
    buttons()[1].click();
    await vi.waitFor(() => expect(heard).toHaveBeenCalled());
  });

  it("leaves nothing behind", () => {
    close();
    expect(model.listening).toBe(0);
    expect(open()).toEqual([0, 1, 2]);
  });
});

it("tells its own panes from those of a strip whose id begins alike", () => {
  document.body.insertAdjacentHTML("beforeend", `<p class="${paneClass("u2", 1)}"></p>`);
  expect(getComputedStyle(document.querySelector(`.${paneClass("u2", 1)}`) as Element).display).not.toBe(
    "none",
  );
});
