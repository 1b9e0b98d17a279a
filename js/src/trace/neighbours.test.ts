import { beforeAll, describe, expect, it } from "vitest";
import { decodeTrace } from "./data/decode";
import { encode, type Written } from "./data/encode.testing";
import type { Slices } from "./data/slices";
import { firstVisible, flagged, nested } from "./neighbours";
import { Rows } from "./rows";
import { Viewport } from "./viewport";

// Slices 0 and 1 are on lane 0, 2 to 4 on lane 1, and 5 on lane 2, which is another track.
const TRACKS: Written[][][] = [
  [
    [
      [0, 100, "fit"],
      [200, 50, "fit"],
    ],
    [
      [10, 20, "MatMul"],
      [40, 50, "Relu"],
      [210, 5, "MatMul"],
    ],
  ],
  [[[0, 300, "worker"]]],
];
let slices: Slices;
let rows: Rows;

beforeAll(async () => {
  const { header, payload } = await encode(TRACKS);
  slices = await decodeTrace(header, [payload]);
  rows = new Rows(header);
});

describe("the arrow keys", () => {
  it("lead from a slice to the next of its name, and end", () => {
    const next = (slice: number, direction: 1 | -1) => {
      const { event, start, name } = slices.get(slice);
      return slices.nextMatch(event, start, flagged(4, name), direction);
    };
    expect(next(2, 1)).toBe(4);
    expect(next(4, 1)).toBe(-1);
    expect(next(4, -1)).toBe(2);
  });

  it("lead up to the enclosing slice and down to the longest enclosed one", () => {
    expect(nested(slices, rows, slices.get(4), -1)).toBe(1);
    expect(nested(slices, rows, slices.get(0), 1)).toBe(3);
  });

  it("stay on the track", () => {
    expect(nested(slices, rows, slices.get(0), -1)).toBe(-1);
    expect(nested(slices, rows, slices.get(3), 1)).toBe(-1);
    expect(nested(slices, rows, slices.get(5), -1)).toBe(-1);
  });

  it("start at the longest visible slice", () => {
    const viewport = new Viewport(300, 1);
    expect(firstVisible(slices, rows, viewport)).toBe(0);
    viewport.show(110, 190);
    expect(firstVisible(slices, rows, viewport)).toBe(5);
  });
});
