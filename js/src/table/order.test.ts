import { describe, expect, it } from "vitest";
import { makeColumn } from "./columns";
import { toCsv } from "./csv";
import { matchingRows, sortRows } from "./order";

const base = { header: "", bar: false, meaning: "" };
const texts = ['a, "quoted"', "conv10", "conv9", "Relu"];
const names = makeColumn({ ...base, key: "op", kind: "text", texts }, Float64Array.of(3, 1, 2, -1, 0).buffer);
const times = makeColumn(
  { ...base, key: "self_us", kind: "us" },
  Float64Array.of(5, 2.25, Number.NaN, 5, 1).buffer,
);
const all = Uint32Array.of(0, 1, 2, 3, 4);

describe("sortRows", () => {
  it("sorts numbers; missing ones come last either way, equal ones keep their order", () => {
    expect([...sortRows(all, times, "ascending")]).toEqual([4, 1, 0, 3, 2]);
    expect([...sortRows(all, times, "descending")]).toEqual([0, 3, 1, 4, 2]);
  });

  it("sorts texts as people count", () => {
    expect([...sortRows(all, names, "ascending")]).toEqual([4, 2, 1, 0, 3]);
  });
});

describe("matchingRows", () => {
  it("finds rows by any text, in any case", () => {
    expect([...matchingRows([names, times], 5, "CONV")]).toEqual([1, 2]);
    expect([...matchingRows([names, times], 5, "  ")]).toEqual([0, 1, 2, 3, 4]);
    expect([...matchingRows([names, times], 5, "nothing")]).toEqual([]);
  });

  it("finds yes and no, as flags are shown, but no missing flag", () => {
    const flags = makeColumn(
      { ...base, key: "warm_up", kind: "flag" },
      Float64Array.of(1, 0, Number.NaN, 1, 0).buffer,
    );
    expect([...matchingRows([flags, times], 5, "yes")]).toEqual([0, 3]);
    expect([...matchingRows([flags], 5, "no")]).toEqual([1, 4]);
  });

  it("takes what stands between slashes for a regular expression", () => {
    expect([...matchingRows([names, times], 5, "/^conv.$/")]).toEqual([2]);
    expect([...matchingRows([names, times], 5, "/(/")]).toEqual([]);
  });
});

describe("toCsv", () => {
  it("defuses texts that a spreadsheet would take for a formula, and leaves numbers as they are", () => {
    const texts = ["=1+1", "+a", "-b", "@c", "d=1"];
    const name = makeColumn(
      { ...base, key: "op", kind: "text", texts },
      Float64Array.of(0, 1, 2, 3, 4).buffer,
    );
    const gain = makeColumn({ ...base, key: "gain", kind: "us" }, Float64Array.of(-1, 0, 0, 0, 0).buffer);
    expect(toCsv([name, gain], all)).toBe("op,gain\r\n'=1+1,-1\r\n'+a,0\r\n'-b,0\r\n'@c,0\r\nd=1,0\r\n");
  });

  it("writes keys, full values and quotes", () => {
    const lines = ["op,self_us", '"a, ""quoted""",1', "conv9,", ",5", ""];
    expect(toCsv([names, times], Uint32Array.of(4, 2, 3))).toBe(lines.join("\r\n"));
  });
});
