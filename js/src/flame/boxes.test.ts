import { expect, it } from "vitest";
import { around, type Boxes, endOf, matches, placed } from "./boxes";

// all 10 = a 6 (a1 4, a2 2) + b 3 (a1 3) + 1 of its own
const boxes: Boxes = {
  names: ["all", "a", "a1", "a2", "b"],
  name: [0, 1, 2, 3, 4, 2],
  depth: [0, 1, 2, 2, 1, 2],
  start: [0, 0, 0, 4, 6, 6],
  total: [10, 6, 4, 2, 3, 3],
  own: [1, 0, 4, 2, 0, 3],
  color: Array(6).fill("#0072B2"),
};

it("knows what a box holds and what holds it", () => {
  expect([0, 1, 2, 4].map((row) => endOf(boxes, row))).toEqual([6, 4, 3, 6]);
  expect(around(boxes, 5)).toEqual([0, 4]);
});

it("places boxes by their share of the one that fills the width", () => {
  const all = placed(boxes, 0, 0).map(({ row, left, width }) => [row, left, width]);
  expect(all).toEqual([
    [0, 0, 1],
    [1, 0, 0.6],
    [2, 0, 0.4],
    [3, 0.4, 0.2],
    [4, 0.6, 0.3],
    [5, 0.6, 0.3],
  ]);
  const inside = placed(boxes, 4, 0).map(({ row, left, width }) => [row, left, width]);
  expect(inside).toEqual([
    [0, 0, 1],
    [4, 0, 1],
    [5, 0, 1],
  ]);
});

it("leaves out boxes that are too narrow", () => {
  expect(placed(boxes, 0, 0.3).map(({ row }) => row)).toEqual([0, 1, 2, 4, 5]);
});

it("counts what lies inside a match once", () => {
  expect([...matches(boxes, "A").rows]).toEqual([0, 1, 2, 3, 5]);
  expect(matches(boxes, "a").total).toBe(10);
  expect(matches(boxes, "a1")).toEqual({ rows: new Set([2, 5]), total: 7 });
  expect(matches(boxes, "").rows.size).toBe(0);
});
