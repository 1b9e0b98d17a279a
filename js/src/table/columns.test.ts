import { describe, expect, it } from "vitest";
import cases from "../lib/format.cases.json";
import { type ColumnHeader, cellText, fullText, type Kind, makeColumn, rawText } from "./columns";

function column(change: Partial<ColumnHeader>, values: number[]) {
  const header: ColumnHeader = {
    key: "k",
    header: "K",
    kind: "number",
    bar: false,
    meaning: "",
    texts: null,
  };
  return makeColumn({ ...header, ...change }, Float64Array.from(values).buffer);
}

describe("a cell", () => {
  it.each([
    ["count", 12345, "12,345", "12,345", "12345"],
    ["ms", 1234.5678, "1.23 s", "1,234.5678 ms", "1234.5678"],
    ["us", 0.012345, "12.3 ns", "0.012345 µs", "0.012345"],
    ["share", 0.7123, "71.2%", "0.7123", "0.7123"],
    ["percent", 71.23, "71.2%", "71.23", "71.23"],
    ["bytes", 2048, "2.00 KiB", "2,048 bytes", "2048"],
    ["flag", 1, "yes", "yes", "True"],
    ["number", Number.NaN, "–", "–", ""],
  ] as const)("of kind %s shows %d as %s, in full %s, raw %s", (kind, value, shown, full, raw) => {
    const one = column({ kind }, [value]);
    expect([cellText(one, 0), fullText(one, 0), rawText(one, 0)]).toEqual([shown, full, raw]);
  });

  it("of changes has its sign", () => {
    const changes = column({ kind: "ms", signed: true }, [2, -2, 0, Number.NaN]);
    expect([0, 1, 2, 3].map((row) => cellText(changes, row))).toEqual(["+2.00 ms", "-2.00 ms", "0 s", "–"]);
  });

  it("of a text column looks its text up", () => {
    const names = column({ kind: "text", texts: ["MatMul", "Relu"] }, [1, -1]);
    expect([cellText(names, 0), cellText(names, 1), rawText(names, 1)]).toEqual(["Relu", "–", ""]);
  });
});

const { duration: _, ...shown } = cases;

describe.each(Object.entries(shown))("a cell of kind %s", (kind, ofKind) => {
  it.each(ofKind)("shows %s as %s, as Python does", (value, text) => {
    expect(cellText(column({ kind: kind as Kind }, [Number(value)]), 0)).toBe(text);
  });
});

describe("makeColumn", () => {
  it("reads a view that is not aligned", () => {
    const bytes = new Uint8Array(17);
    bytes.set(new Uint8Array(Float64Array.of(1.5, 2.5).buffer), 1);
    const header: ColumnHeader = { key: "k", header: "K", kind: "ms", bar: true, meaning: "" };
    expect([...makeColumn(header, new DataView(bytes.buffer, 1)).values]).toEqual([1.5, 2.5]);
  });

  it("makes bars relative to the whole for shares, else to the largest value", () => {
    expect(column({ kind: "share" }, [0.2, 0.4]).fullBar).toBe(1);
    expect(column({ kind: "percent" }, [20, 40]).fullBar).toBe(100);
    expect(column({ kind: "us" }, [20, Number.NaN, 40]).fullBar).toBe(40);
  });
});
