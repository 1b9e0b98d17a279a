// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { at } from "../lib/at";
import { FakeModel } from "../lib/model.testing";
import table, { type Traits } from "./index";

const ROWS = 1000;
const OPS = ["MatMul", "<img src=x onerror=alert(1)>", "Relu"];
let model: FakeModel<Traits>;
let close: () => void;

beforeEach(() => {
  document.body.innerHTML = '<div id="el"></div>';
  const numbers = (of: (row: number) => number) =>
    Float64Array.from({ length: ROWS }, (_, row) => of(row)).buffer;
  model = new FakeModel<Traits>({
    title: "Top ops",
    rows: ROWS,
    columns: [
      { key: "op_type", header: "Type", kind: "text", bar: false, meaning: "Kind of op", texts: OPS },
      { key: "self_us", header: "Self", kind: "us", bar: true, meaning: "" },
    ],
    buffers: [numbers((row) => row % 3), numbers((row) => row)],
    selected_row: null,
  });
  close = table.render({ model, el: document.getElementById("el") as HTMLElement });
});

const rows = () => [...document.querySelectorAll<HTMLElement>("[data-place]")];
const row = (place: number) => at(rows(), place);
const texts = (row: HTMLElement) => [...row.children].map((cell) => cell.textContent);
const header = (column: number) => at(document.querySelectorAll<HTMLElement>("[role=columnheader]"), column);
const grid = () => document.querySelector<HTMLElement>(".tfp-grid") as HTMLElement;
const press = (key: string) => grid().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

describe("the table", () => {
  it("puts only the visible rows into the page, and says how many there are", () => {
    expect(rows().length).toBeLessThan(50);
    expect(grid().getAttribute("aria-rowcount")).toBe("1001");
    expect(texts(row(0))).toEqual(["MatMul", "0 s"]);
  });

  it("shows markup as text", () => {
    expect(texts(row(1))[0]).toBe(OPS[1]);
    expect(document.querySelector("img")).toBeNull();
  });

  it("sorts by a header: largest first, then smallest", () => {
    header(1).querySelector("button")?.click();
    expect(texts(row(0))).toEqual(["MatMul", "999 µs"]);
    expect(header(1).getAttribute("aria-sort")).toBe("descending");
    header(1).querySelector("button")?.click();
    expect(texts(row(0))).toEqual(["MatMul", "0 s"]);
    expect([0, 1].map((column) => header(column).getAttribute("aria-sort"))).toEqual(["none", "ascending"]);
  });

  it("searches", () => {
    const input = document.querySelector("input") as HTMLInputElement;
    input.value = "relu";
    input.dispatchEvent(new Event("input"));
    expect(texts(row(0))).toEqual(["Relu", "2.00 µs"]);
    expect(document.querySelector("[role=status]")?.textContent).toBe("333 of 1,000 rows");
  });

  it("selects rows of the frame by mouse and keys, whatever their order", () => {
    header(1).querySelector("button")?.click();
    row(1).click();
    expect(model.get("selected_row")).toBe(998);
    press("ArrowDown");
    expect(model.get("selected_row")).toBe(997);
    expect(row(2).getAttribute("aria-selected")).toBe("true");
    expect(grid().getAttribute("aria-activedescendant")).toBe(row(2).id);
    press("Escape");
    expect(model.get("selected_row")).toBeNull();
  });

  it("follows the kernel's selection", () => {
    model.set("selected_row", 3);
    expect(
      rows()
        .map((row) => row.getAttribute("aria-selected"))
        .indexOf("true"),
    ).toBe(3);
  });

  it("leaves nothing behind", () => {
    close();
    expect(model.listening).toBe(0);
    expect(document.getElementById("el")?.children.length).toBe(0);
  });
});

it("shows paths in short, and has them whole for the pointer, search and export", () => {
  const paths = ["call/net/dense_1/MatMul", "call/net/dense_2/MatMul"];
  const short = ["…/dense_1/MatMul", "…/dense_2/MatMul"];
  const column = { key: "op", header: "op", kind: "code" as const, bar: false, meaning: "" };
  close();
  model = new FakeModel<Traits>({
    title: "Ops",
    rows: 2,
    columns: [{ ...column, texts: paths, short }],
    buffers: [Float64Array.of(0, 1).buffer],
    selected_row: null,
  });
  close = table.render({ model, el: document.getElementById("el") as HTMLElement });
  expect(rows().map((row) => texts(row)[0])).toEqual(short);
  expect(rows().map((row) => (row.children[0] as HTMLElement).title)).toEqual(paths);
  const input = document.querySelector("input") as HTMLInputElement;
  input.value = "net/dense_2";
  input.dispatchEvent(new Event("input"));
  expect(rows().map((row) => texts(row)[0])).toEqual([short[1]]);
});

describe("a table of rows that lie below one another", () => {
  const names = [
    "all",
    "\u00a0\u00a0a",
    "\u00a0\u00a0\u00a0\u00a0a/x",
    "\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0a/x/y",
    "\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0deep",
  ];

  beforeEach(() => {
    close();
    model = new FakeModel<Traits>({
      title: "Scopes",
      rows: names.length,
      columns: [{ key: "name", header: "scope", kind: "text", bar: false, meaning: "", texts: names }],
      buffers: [Float64Array.from(names, (_, row) => row).buffer],
      depths: Float64Array.from(names, (_, row) => row).buffer,
      selected_row: null,
    });
    close = table.render({ model, el: document.getElementById("el") as HTMLElement });
  });

  const shown = () => rows().map((row) => row.querySelector(".tfp-front")?.textContent);
  const toggle = (row: number) => at(rows(), row).querySelector<HTMLElement>(".tfp-toggle");

  it("opens and closes rows by their triangles, without selecting them", () => {
    expect(shown()).toEqual(["all", "a", "a/x", "a/x/y"]);
    toggle(3)?.click();
    expect(shown()).toEqual(["all", "a", "a/x", "a/x/y", "deep"]);
    toggle(1)?.click();
    expect(shown()).toEqual(["all", "a"]);
    expect(rows().map((row) => row.getAttribute("aria-expanded"))).toEqual(["true", "false"]);
    expect(model.get("selected_row")).toBeNull();
  });

  it("opens and closes the selected row by the arrow keys", () => {
    row(0).click();
    press("ArrowLeft");
    expect(shown()).toEqual(["all"]);
    press("ArrowRight");
    expect(shown()).toEqual(["all", "a", "a/x", "a/x/y"]);
  });

  it("shows what is searched with all that it lies below", () => {
    const input = document.querySelector("input") as HTMLInputElement;
    input.value = "deep";
    input.dispatchEvent(new Event("input"));
    expect(shown()).toEqual(["all", "a", "a/x", "a/x/y", "deep"]);
  });
});

describe("the menu of columns", () => {
  const open = (hidden: number[]) => {
    close();
    const columns = Array.from({ length: 7 }, (_, index) => ({
      key: `k${index}`,
      header: `H${index}`,
      kind: "count" as const,
      bar: false,
      meaning: "",
      hidden: hidden.includes(index),
    }));
    const buffers = columns.map((_, index) => Float64Array.of(index).buffer);
    model = new FakeModel<Traits>({
      title: "",
      rows: 1,
      columns,
      buffers,
      selected_row: null,
    });
    close = table.render({ model, el: document.getElementById("el") as HTMLElement });
    return [...document.querySelectorAll<HTMLInputElement>(".tfp-menu input")];
  };

  it("hides columns that are not ticked", () => {
    const box = at(open([]), 1);
    box.click();
    expect(texts(row(0))).toEqual(["0", "1", "3", "4", "5", "6"]);
    expect(header(2).hidden).toBe(true);
    box.click();
    expect(texts(row(0))).toHaveLength(7);
  });

  it("shows a hidden column once it is ticked", () => {
    const boxes = open([2, 5]);
    expect(boxes.map((box) => box.checked)).toEqual([true, false, true, true, false, true]);
    expect(texts(row(0))).toEqual(["0", "1", "3", "4", "6"]);
    at(boxes, 1).click();
    expect(texts(row(0))).toEqual(["0", "1", "2", "3", "4", "6"]);
  });
});

it.each([
  [20, 400, 20],
  [40, 400, 15],
  [40, 1000, 23],
])("of %d rows shows, in a window of %d px, %d without scrolling", (count, height, shown) => {
  close();
  window.innerHeight = height;
  document.body.innerHTML = '<div id="el"></div>';
  model.set("rows", count);
  close = table.render({ model, el: document.getElementById("el") as HTMLElement });
  const high = Number.parseFloat(grid().style.maxHeight);
  expect(Math.floor((high - 18) / 26)).toBeGreaterThanOrEqual(shown);
  expect(Math.floor((high - 18) / 26)).toBeLessThan(shown + 3);
});
