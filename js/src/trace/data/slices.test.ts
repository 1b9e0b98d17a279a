import { beforeAll, describe, expect, it } from "vitest";
import { decodeTrace } from "./decode";
import { encode, type Written } from "./encode.testing";
import type { Slices } from "./slices";

let slices: Slices;
// Names in order of first use: a = 0, b = 1, c = 2. Slices 0 to 2 are on lane 0, 3 and 4 on lane 1.
const LANES: Written[][] = [
  [
    [0, 10, "a"],
    [20, 5, "b"],
    [30, 10, "a"],
  ],
  [
    [2, 3, "c"],
    [20, 2, "a"],
  ],
];

beforeAll(async () => {
  const { header, payload } = await encode([LANES]);
  slices = await decodeTrace(header, [payload]);
});

describe("Slices", () => {
  it.each([
    [0, 100, [0, 3]],
    [9, 21, [0, 2]],
    [10, 20, [1, 1]],
    [24, 25, [1, 2]],
    [25, 30, [2, 2]],
    [39, 50, [2, 3]],
    [40, 50, [3, 3]],
  ])("finds the slices of a lane within [%i, %i)", (begin, end, range) => {
    expect(slices.visible(0, begin, end)).toEqual(range);
  });

  it("finds the next start from any index as a plain search does", () => {
    for (let from = 0; from <= 3; from++) {
      for (const time of [0, 1, 20, 29, 30, 31]) {
        const plain = [0, 1, 2].find((i) => i >= from && slices.startOf(i) >= time) ?? 3;
        expect(slices.nextStarting(from, 3, time)).toBe(plain);
      }
    }
  });

  it("counts the events of one name that are visible", () => {
    expect(slices.totals(0, 0, 100)).toEqual({ count: 3, total: 22 });
    expect(slices.totals(0, 10, 31)).toEqual({ count: 2, total: 12 });
    expect(slices.totals(2, 10, 31)).toEqual({ count: 0, total: 0 });
  });

  it("goes through the slices of one name in time, over lanes, and stops at the ends", () => {
    const a = Uint8Array.of(1, 0, 0);
    expect(slices.nextMatch(0, 0, a, 1)).toBe(4);
    expect(slices.nextMatch(4, 20, a, 1)).toBe(2);
    expect(slices.nextMatch(2, 30, a, 1)).toBe(-1);
    expect(slices.nextMatch(2, 30, a, -1)).toBe(4);
    expect(slices.nextMatch(-1, 5, a, 1)).toBe(4);
    const ranks = [slices.rank(0, 0, a), slices.rank(4, 20, a), slices.rank(2, 30, a)];
    expect(ranks).toEqual([1, 2, 3]);
  });

  it("orders slices that start together by lane", () => {
    const ab = Uint8Array.of(1, 1, 0);
    expect(slices.nextMatch(1, 20, ab, 1)).toBe(4);
    expect(slices.nextMatch(4, 20, ab, -1)).toBe(1);
  });

  it("counts the matches before each slice", () => {
    expect([...slices.highlight(Uint8Array.of(1, 0, 0)).sums]).toEqual([0, 1, 1, 2, 2, 3]);
  });
});
