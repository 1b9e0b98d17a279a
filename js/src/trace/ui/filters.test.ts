// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { at } from "../../lib/at";
import { type Filter, Filters, parseDuration } from "./filters";

describe("parseDuration", () => {
  it.each([
    ["", 0],
    ["10us", 10e6],
    [" 1.5 ms ", 1.5e9],
    ["3 µs", 3e6],
    ["2 S", 2e12],
  ])("reads %j", (text, ps) => expect(parseDuration(text)).toBe(ps));

  it.each(["10", "us", "ten us", "1.2.3 us"])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeNaN();
  });
});

describe("Filters", () => {
  function shown() {
    const heard: Filter[] = [];
    const filters = new Filters((filter) => heard.push(filter), new AbortController().signal);
    document.body.replaceChildren(filters.toggle, filters.root);
    const inputs = filters.root.querySelectorAll("input");
    const [rows, shortest] = [at(inputs, 0), at(inputs, 1)];
    const type = (input: HTMLInputElement, text: string) => {
      input.value = text;
      input.dispatchEvent(new Event("input"));
    };
    return { filters, heard, rows, shortest, type };
  }

  it("opens, passes on what is typed, and counts what is set", () => {
    const { filters, heard, rows, shortest, type } = shown();
    expect(filters.root.hidden).toBe(true);
    filters.toggle.click();
    expect(filters.root.hidden).toBe(false);
    expect(filters.toggle.getAttribute("aria-expanded")).toBe("true");
    type(rows, "stream");
    type(shortest, "10 us");
    expect(heard.at(-1)).toEqual({ rows: "stream", shortest_ps: 10e6, onlyHits: false });
    expect(filters.toggle.textContent).toBe("Filter (2)");
  });

  it("marks what is not a duration and shows everything", () => {
    const { heard, shortest, type } = shown();
    type(shortest, "abc");
    expect(shortest.getAttribute("aria-invalid")).toBe("true");
    expect(heard.at(-1)?.shortest_ps).toBe(0);
  });

  it("is reset", () => {
    const { filters, heard, rows, type } = shown();
    type(rows, "stream");
    for (const button of filters.root.querySelectorAll("button")) button.click();
    expect(heard.at(-1)).toEqual({ rows: "", shortest_ps: 0, onlyHits: false });
    expect(filters.toggle.textContent).toBe("Filter");
  });
});
