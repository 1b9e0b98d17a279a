import { expect, it } from "vitest";
import { headerWidth, widths } from "./cells";
import { makeColumn } from "./columns";

it.each([
  ["step", 4],
  ["device compute (ms)", 12], // device / compute (ms)
  ["self time (µs)", 9], // self time / (µs)
])("gives the header %s room for %d bold characters and an arrow", (header, characters) => {
  expect(headerWidth(header, 3)).toBe(Math.ceil(characters * 1.1) + 3);
});

it("leaves room beside a long text in a narrow place", () => {
  const name = "…/sequential/conv2d/Conv2DBackpropFilter";
  const text = { key: "k", header: "op", kind: "code" as const, bar: false, meaning: "", texts: [name] };
  const columns = [makeColumn({ ...text, short: [name] }, Float64Array.of(0).buffer)];
  expect(widths(columns, 1).columns).toContain("40ch");
  expect(widths(columns, 1, { at: [], px: 0 }, 480).columns).toContain("27ch");
  const count = { key: "n", header: "runs", kind: "count" as const, bar: false, meaning: "" };
  const kernels = [...columns, ...columns, makeColumn(count, Float64Array.of(1).buffer)];
  expect(widths(kernels, 1, { at: [], px: 0 }, 780).columns.match(/33ch/g)).toHaveLength(2);
});

it("adds room to columns, and so to all together", () => {
  const header = { key: "k", header: "step", kind: "count" as const, bar: false, meaning: "" };
  const columns = [1, 2].map((value) => makeColumn(header, Float64Array.of(value).buffer));
  const { columns: plain } = widths(columns, 1);
  const wide = widths(columns, 1, { at: [1], px: 33 });
  const [first, second = ""] = plain.split(") ");
  expect(wide.columns).toBe(`${first}) ${second.replace(")", " + 33px)")}`);
  expect(wide.minimum).toContain("+ 33px");
  expect(widths(columns, 1, { at: [0, 1], px: 33 }).columns.match(/\+ 16.5px/g)).toHaveLength(2);
});
