import { describe, expect, it } from "vitest";
import { lowerBound } from "./binary_search";

const VALUES = [1, 3, 3, 3, 8];

describe("lowerBound", () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [3.5, 4],
    [8, 4],
    [9, 5],
  ])("of %d is index %i", (least, index) => {
    expect(lowerBound(VALUES, least)).toBe(index);
    expect(lowerBound(Float64Array.from(VALUES), least)).toBe(index);
  });

  it("looks only at the given part", () => {
    expect(lowerBound(VALUES, 0, 2, 4)).toBe(2);
    expect(lowerBound(VALUES, 3, 2, 4)).toBe(2);
    expect(lowerBound(VALUES, 9, 2, 4)).toBe(4);
    expect(lowerBound(VALUES, 3, 2, 2)).toBe(2);
  });

  it("is 0 without values", () => {
    expect(lowerBound([], 1)).toBe(0);
  });

  it("finds what a scan finds, at every length", () => {
    for (let length = 0; length < 40; length++) {
      const values = Uint32Array.from({ length }, (_, k) => Math.floor((k * k) / 7));
      for (let least = -1; least < 240; least++) {
        const scanned = values.findIndex((value) => value >= least);
        expect(lowerBound(values, least)).toBe(scanned < 0 ? length : scanned);
      }
    }
  });
});
