import { beforeAll, describe, expect, it } from "vitest";
import { Rows } from "../rows";
import { decodeTrace } from "./decode";
import { encode, type Written } from "./encode.testing";
import { rangeTotals } from "./range_totals";
import type { Slices } from "./slices";

// Names: fit = 0, MatMul = 1, Relu = 2, worker = 3.
const TRACKS: Written[][][] = [
  [
    [[0, 100, "fit"]],
    [
      [10, 40, "MatMul"],
      [60, 20, "MatMul"],
    ],
    [[15, 10, "Relu"]],
  ],
  [[[50, 100, "worker"]]],
];
let slices: Slices;
let rows: Rows;

beforeAll(async () => {
  const { header, payload } = await encode(TRACKS);
  slices = await decodeTrace(header, [payload]);
  rows = new Rows(header);
});

describe("rangeTotals", () => {
  it("counts and sums what lies in the range; self time is without the events inside", () => {
    expect(rangeTotals(slices, rows, { start: 0, end: 70, tracks: null })).toEqual([
      { name: 1, count: 2, total: 50, self: 40 },
      { name: 0, count: 1, total: 70, self: 20 },
      { name: 3, count: 1, total: 20, self: 20 },
      { name: 2, count: 1, total: 10, self: 10 },
    ]);
  });

  it("leaves other tracks out", () => {
    const found = rangeTotals(slices, rows, { start: 0, end: 200, tracks: new Set([1]) });
    expect(found).toEqual([{ name: 3, count: 1, total: 100, self: 100 }]);
  });

  it("takes nothing from an event that another one only overlaps", async () => {
    const { header, payload } = await encode([[[[0, 50, "a"]], [[40, 50, "b"]]]]);
    const found = rangeTotals(await decodeTrace(header, [payload]), new Rows(header), {
      start: 0,
      end: 100,
      tracks: null,
    });
    expect(found.map(({ self }) => self)).toEqual([50, 50]);
  });
});
