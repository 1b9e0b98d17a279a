// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { at } from "../lib/at";
import { FakeModel } from "../lib/model.testing";
import tabs, { type Traits } from "./index";
import { paneClass } from "./panes";

let model: FakeModel<Traits>;
let close: () => void;

function press(key: string): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}

const buttons = () => [...document.querySelectorAll<HTMLElement>("[role=tab]")];
const button = (index: number) => at(buttons(), index);
const open = () =>
  [0, 1, 2].filter((k) => {
    const pane = document.querySelector(`.${paneClass("u", k)}`);
    return pane && getComputedStyle(pane).display !== "none";
  });

const LINK = `<button data-tfp-page="Ops" data-tfp-op="a &amp; b" data-tfp-range="5,9">See</button>`;

function draw(traits: Partial<Traits> = {}): void {
  const panes = [0, 1, 2].map((k) => `<p class="${paneClass("u", k)}">${LINK}</p>`).join("");
  document.body.innerHTML = `<div class="tfp-view"><div id="strip"></div>${panes}</div>`;
  model = new FakeModel<Traits>({
    names: ["Answer", "Steps", "Ops"],
    groups: [],
    selected: 0,
    kind: "tabs",
    label: "",
    uid: "u",
    opened: null,
    ...traits,
  });
  close = tabs.render({ model, el: document.getElementById("strip") as HTMLElement });
}

beforeEach(() => draw());

describe("the tab strip", () => {
  it("shows one pane, and another after a click", () => {
    expect(open()).toEqual([0]);
    button(2).click();
    expect(open()).toEqual([2]);
    expect([model.get("selected"), model.saves]).toEqual([2, 1]);
  });

  it("follows the kernel", () => {
    model.set("selected", 1);
    expect(open()).toEqual([1]);
    expect(buttons().map((tab) => tab.getAttribute("aria-selected"))).toEqual(["false", "true", "false"]);
  });

  it("says what to do in pages that were not opened before the kernel ended", () => {
    const pane = document.querySelector(`.${paneClass("u", 1)}`) as HTMLElement;
    pane.innerHTML = `<div class="tfp-loading">Loading …</div>`;
    model.emit("comm_live_update");
    expect(pane.textContent).toContain(
      "Run the cell again, or open the profile's files: %tfprofile_load FOLDER",
    );
    expect(document.querySelector(`.${paneClass("u", 2)}`)?.textContent).toBe("See");
  });

  it("says how to open the very profile again, where the view tells its folder", () => {
    const pane = document.querySelector(`.${paneClass("u", 1)}`) as HTMLElement;
    pane.innerHTML = `<div class="tfp-loading">Loading …</div>`;
    const saved = "Saved. <code>--keep 20</code> <code>%tfprofile_load logs/run</code> opens it again.";
    document.querySelector(".tfp-view")?.insertAdjacentHTML("beforeend", `<p>${saved}</p>`);
    model.emit("comm_live_update");
    expect(pane.textContent).toMatch(/: %tfprofile_load logs\/run$/);
  });

  it("folds the answer off the first page", () => {
    const folded = () => document.querySelector(".tfp-view")?.classList.contains("tfp-folded");
    button(1).click();
    expect(folded()).toBe(true);
    button(0).click();
    expect(folded()).toBe(false);
  });

  it("is one stop for the tab key, and arrows go round", () => {
    expect(buttons().map((tab) => tab.tabIndex)).toEqual([0, -1, -1]);
    button(0).focus();
    press("ArrowLeft");
    expect([document.activeElement, open()[0]]).toEqual([button(2), 2]);
    press("ArrowRight");
    expect([document.activeElement, open()[0]]).toEqual([button(0), 0]);
    press("End");
    expect(open()).toEqual([2]);
  });

  it("ties tabs and panes together for assistive technology", () => {
    const pane = document.querySelector(`.${paneClass("u", 1)}`);
    expect(pane?.getAttribute("role")).toBe("tabpanel");
    expect(pane?.getAttribute("aria-labelledby")).toBe(button(1).id);
    expect(button(1).getAttribute("aria-controls")).toBe(pane?.id);
  });

  it("lets hidden charts lay themselves out", async () => {
    const heard = vi.fn();
    window.addEventListener("resize", heard);
    button(1).click();
    await vi.waitFor(() => expect(heard).toHaveBeenCalled());
  });

  it("leaves nothing behind", () => {
    close();
    expect(model.listening).toBe(0);
    expect(open()).toEqual([0, 1, 2]);
  });
});

describe("pages that share a tab", () => {
  const GROUPS = ["Answer", "Model", "Model"];
  const names = () => buttons().map((tab) => tab.firstChild?.textContent);
  const second = () => document.querySelector(".tfp-subtabs") as HTMLElement;

  beforeEach(() => draw({ groups: GROUPS }));

  it("stand in a second row, seen when their tab is chosen", () => {
    expect(names()).toEqual(["Answer", "Model", "Steps", "Ops"]);
    expect([second().hidden, open()]).toEqual([true, [0]]);
    button(1).click();
    expect([second().hidden, open()]).toEqual([false, [1]]);
    button(3).click();
    expect(open()).toEqual([2]);
    expect(buttons().map((tab) => tab.getAttribute("aria-selected"))).toEqual([
      "false",
      "true",
      "false",
      "true",
    ]);
  });

  it("are remembered by their tab", () => {
    button(3).click();
    button(0).click();
    expect([second().hidden, open()]).toEqual([true, [0]]);
    button(1).click();
    expect(open()).toEqual([2]);
  });

  it("are each a stop of the arrows in their row", () => {
    button(0).focus();
    press("ArrowRight");
    expect([document.activeElement, open()]).toEqual([button(1), [1]]);
    button(2).focus();
    press("ArrowRight");
    expect([document.activeElement, open()]).toEqual([button(3), [2]]);
    press("ArrowRight");
    expect([document.activeElement, open()]).toEqual([button(2), [1]]);
  });

  it("are opened by links", () => {
    (document.querySelector("[data-tfp-page]") as HTMLElement).click();
    expect([second().hidden, open(), document.activeElement]).toEqual([false, [2], button(3)]);
  });
});

describe("a link in a page", () => {
  const link = () => document.querySelector("[data-tfp-page]") as HTMLElement;

  it("opens the page that it names, and says what to show there", () => {
    link().click();
    expect(open()).toEqual([2]);
    expect(model.get("opened")).toEqual({ page: "Ops", op: "a & b", range: [5, 9] });
    expect([model.saves, document.activeElement]).toEqual([1, button(2)]);
  });

  it("brings the page into sight, which choosing a tab does not", () => {
    const scroll = vi.spyOn(HTMLElement.prototype, "scrollIntoView");
    button(1).click();
    expect(scroll).not.toHaveBeenCalled();
    link().click();
    expect(scroll.mock.contexts[0]).toBe(document.querySelector("#strip .tfp"));
    expect(scroll).toHaveBeenCalledWith({ behavior: "smooth", block: "start" });
    scroll.mockRestore();
  });

  it("is left to strips further out when no page here has its name", () => {
    draw({ names: ["A", "B", "C"] });
    const heard = vi.fn();
    document.body.addEventListener("click", heard);
    link().click();
    expect([open(), heard.mock.calls.length]).toEqual([[0], 1]);
    document.body.removeEventListener("click", heard);
  });
});

describe("the pickers", () => {
  it("a menu opens the page that is chosen", () => {
    draw({ kind: "menu", label: "host" });
    const list = document.querySelector("select") as HTMLSelectElement;
    expect([...list.options].map((option) => option.textContent)).toEqual(["Answer", "Steps", "Ops"]);
    list.selectedIndex = 1;
    list.dispatchEvent(new Event("change"));
    expect(open()).toEqual([1]);
    expect(list.closest("label")?.textContent).toMatch(/^host/);
  });

  it("a slider names the page on the way and opens it at the end", () => {
    draw({ kind: "slider", label: "step" });
    const range = document.querySelector("input") as HTMLInputElement;
    range.value = "2";
    range.dispatchEvent(new Event("input"));
    expect([document.querySelector("output")?.textContent, open()]).toEqual(["Ops", [0]]);
    range.dispatchEvent(new Event("change"));
    expect([open(), range.getAttribute("aria-valuetext")]).toEqual([[2], "Ops"]);
  });
});

it("tells its own panes from those of a strip whose id begins alike", () => {
  document.body.insertAdjacentHTML("beforeend", `<p class="${paneClass("u2", 1)}"></p>`);
  expect(getComputedStyle(document.querySelector(`.${paneClass("u2", 1)}`) as Element).display).not.toBe(
    "none",
  );
});
