import { beforeAll, describe, expect, it } from "vitest";
import { decodeTrace } from "./data/decode";
import { encode, type Written } from "./data/encode.testing";
import type { Events } from "./data/slices";
import { anyInSight, nested, ofSameName } from "./neighbours";
import { Rows } from "./rows";
import { Viewport } from "./viewport";

// Events 0 and 1 on lane 0, 2 to 4 on lane 1, and 5 on lane 2, which is another track.
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
let events: Events;
let rows: Rows;

beforeAll(async () => {
  const { header, payload } = await encode(TRACKS);
  events = await decodeTrace(header, [payload]);
  rows = new Rows(header);
});

describe("walks", () => {
  it("go from an event to the next of its name, and end", () => {
    expect(ofSameName(events, 4, events.placeOf(2), 1)).toBe(4);
    expect(ofSameName(events, 4, events.placeOf(4), 1)).toBe(-1);
    expect(ofSameName(events, 4, events.placeOf(4), -1)).toBe(2);
  });

  it("go up to the enclosing event and down to the longest enclosed one", () => {
    expect(nested(events, rows, events.placeOf(4), -1)).toBe(1);
    expect(nested(events, rows, events.placeOf(0), 1)).toBe(3);
  });

  it("do not leave the track", () => {
    expect(nested(events, rows, events.placeOf(0), -1)).toBe(-1);
    expect(nested(events, rows, events.placeOf(3), 1)).toBe(-1);
    expect(nested(events, rows, events.placeOf(5), -1)).toBe(-1);
  });

  it("start at the longest event in sight", () => {
    const viewport = new Viewport(300, 1);
    expect(anyInSight(events, rows, viewport)).toBe(0);
    viewport.show(110, 190);
    expect(anyInSight(events, rows, viewport)).toBe(5);
  });
});
