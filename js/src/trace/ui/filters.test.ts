// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { type Filter, Filters, parseDuration } from "./filters";

describe("parseDuration", () => {
  it.each([
    ["", 0],
    ["10us", 10e6],
    [" 1.5 ms ", 1.5e9],
    ["3 µs", 3e6],
    ["2 S", 2e12],
  ])("reads %j", (text, ps) => expect(parseDuration(text)).toBe(ps));

  it.each(["10", "us", "ten us", "1.2.3 us"])("takes %j for none", (text) => {
    expect(parseDuration(text)).toBeNaN();
  });
});

describe("Filters", () => {
  function shown() {
    const told: Filter[] = [];
    const filters = new Filters((filter) => told.push(filter), new AbortController().signal);
    document.body.replaceChildren(filters.toggle, filters.root);
    const [rows, least, hits] = filters.root.querySelectorAll("input");
    const type = (input: HTMLInputElement, text: string) => {
      input.value = text;
      input.dispatchEvent(new Event("input"));
    };
    return { filters, told, rows, least, hits, type };
  }

  it("opens, tells what is typed, and counts what is on", () => {
    const { filters, told, rows, least, type } = shown();
    expect(filters.root.hidden).toBe(true);
    filters.toggle.click();
    expect(filters.root.hidden).toBe(false);
    expect(filters.toggle.getAttribute("aria-expanded")).toBe("true");
    type(rows, "stream");
    type(least, "10 us");
    expect(told.at(-1)).toEqual({ rows: "stream", least_ps: 10e6, onlyHits: false });
    expect(filters.toggle.textContent).toBe("Filter (2)");
  });

  it("marks what is no duration and shows everything", () => {
    const { told, least, type } = shown();
    type(least, "abc");
    expect(least.getAttribute("aria-invalid")).toBe("true");
    expect(told.at(-1)?.least_ps).toBe(0);
  });

  it("goes back", () => {
    const { filters, told, rows, type } = shown();
    type(rows, "stream");
    for (const button of filters.root.querySelectorAll("button")) button.click();
    expect(told.at(-1)).toEqual({ rows: "", least_ps: 0, onlyHits: false });
    expect(filters.toggle.textContent).toBe("Filter");
  });
});
