import { describe, expect, it } from "vitest";
import { indexAt } from "./place";

const span = { first: 100, last: 200 };

describe("indexAt", () => {
  it("finds the nearest mark", () => {
    expect([100, 120, 130, 200].map((pixel) => indexAt(span, pixel, [0, 1, 2]))).toEqual([0, 0, 1, 2]);
  });

  it("places marks by their x, not by their count", () => {
    expect(indexAt(span, 150, [0, 1, 10])).toBe(1);
    expect(indexAt(span, 160, [0, 1, 10])).toBe(2);
  });

  it("spaces texts evenly", () => {
    expect(indexAt(span, 148, ["MatMul", "Conv2D", "Relu"])).toBe(1);
  });

  it("finds nothing beyond half a mark outside", () => {
    expect([74, 76, 224, 226].map((pixel) => indexAt(span, pixel, [0, 1, 2]))).toEqual([null, 0, 2, null]);
  });

  it("takes a mark alone anywhere, and nothing from nothing", () => {
    expect([indexAt({ first: 5, last: 5 }, 90, [3]), indexAt(span, 150, [])]).toEqual([0, null]);
  });
});
