// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeModel } from "../lib/model.testing";
import readout, { type Traits } from "./index";

const entries = [
  { label: "input", color: "#D55E00", values: [50.6, 51.25, null], mean: "50.9" },
  { label: "other", color: "#999999", values: [1.7, 1.8, 1.9], mean: "1.80" },
];
let model: FakeModel<Traits>;

const text = () => document.querySelector<HTMLElement>(".tfp-readout")?.textContent;
const press = (key: string) =>
  document.querySelector(".tfp-readout")?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = `<div class="c"><p class="bargroup"></p><p class="bargroup"></p></div><div id="legend"></div>`;
  model = new FakeModel<Traits>({
    chart: "c",
    title: "Step time",
    x: [4, 5, 6],
    x_label: "step",
    entries,
    summary: "mean, ms",
    notes: ["", "for MatMul", ""],
    selected: null,
  });
  readout.render({ model, el: document.getElementById("legend") as HTMLElement });
});

describe("the legend", () => {
  it("shows means at rest", () => {
    expect(text()).toBe("mean, msinput50.9other1.80");
  });

  it("shows the values under the pointer, and the means again after it", () => {
    const bars = document.querySelectorAll<HTMLElement>(".bargroup");
    bars.forEach((bar, k) => {
      bar.getBoundingClientRect = () => new DOMRect(100 + 100 * k, 0, 10, 10);
    });
    const chart = document.querySelector(".c") as HTMLElement;
    chart.dispatchEvent(new PointerEvent("pointermove", { clientX: 157 }));
    expect(text()).toBe("step 5input51.2other1.80for MatMul");
    chart.dispatchEvent(new PointerEvent("pointerleave"));
    expect(text()).toBe("mean, msinput50.9other1.80");
  });

  it("walks with the arrow keys and selects with Enter", () => {
    press("ArrowRight");
    press("ArrowRight");
    press("ArrowRight");
    press("ArrowRight");
    expect(text()).toBe("step 6input–other1.90");
    press("Enter");
    expect([model.get("selected"), model.saves]).toEqual([2, 1]);
    press("Escape");
    expect(model.get("selected")).toBeNull();
  });

  it("keeps the chart's numbers as a table, and names the chart", () => {
    const details = document.querySelector("details") as HTMLDetailsElement;
    expect(details.querySelector("table")).toBeNull();
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
    const rows = [...details.querySelectorAll("tr")].map((row) =>
      [...row.children].map((c) => c.textContent),
    );
    expect(rows).toEqual([
      ["step", "input", "other"],
      ["4", "50.6", "1.70"],
      ["5", "51.2", "1.80"],
      ["6", "–", "1.90"],
    ]);
    expect(document.querySelector(".c")?.getAttribute("aria-label")).toBe("Step time");
  });

  it("shows what was selected elsewhere", () => {
    model.set("selected", 0);
    expect(text()).toBe("step 4input50.6other1.70");
  });
});
