import { beforeAll, describe, expect, it } from "vitest";
import { decodeTrace } from "./decode";
import { encode, type Written } from "./encode.testing";
import type { Events } from "./slices";

let events: Events;
// Names in order of first use: a = 0, b = 1, c = 2. Events 0 to 2 on lane 0, 3 and 4 on lane 1.
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
  events = await decodeTrace(header, [payload]);
});

describe("Events", () => {
  it.each([
    [0, 100, [0, 3]],
    [9, 21, [0, 2]],
    [10, 20, [1, 1]],
    [24, 25, [1, 2]],
    [25, 30, [2, 2]],
    [39, 50, [2, 3]],
    [40, 50, [3, 3]],
  ])("sees the events of a lane within [%i, %i)", (begin, end, range) => {
    expect(events.visible(0, begin, end)).toEqual(range);
  });

  it("finds the next start from any place as a plain search does", () => {
    for (let from = 0; from <= 3; from++) {
      for (const time of [0, 1, 20, 29, 30, 31]) {
        const plain = [0, 1, 2].find((i) => i >= from && events.start[i] >= time) ?? 3;
        expect(events.nextStarting(from, 3, time)).toBe(plain);
      }
    }
  });

  it("counts the events of one name that are in view", () => {
    expect(events.totals(0, 0, 100)).toEqual({ count: 3, total: 22 });
    expect(events.totals(0, 10, 31)).toEqual({ count: 2, total: 12 });
    expect(events.totals(2, 10, 31)).toEqual({ count: 0, total: 0 });
  });

  it("walks the events of one name in time, over lanes, and stops at the ends", () => {
    const a = Uint8Array.of(1, 0, 0);
    expect(events.neighbour(0, 0, a, 1)).toBe(4);
    expect(events.neighbour(4, 20, a, 1)).toBe(2);
    expect(events.neighbour(2, 30, a, 1)).toBe(-1);
    expect(events.neighbour(2, 30, a, -1)).toBe(4);
    expect(events.neighbour(-1, 5, a, 1)).toBe(4);
  });

  it("takes events that start together in lane order", () => {
    const ab = Uint8Array.of(1, 1, 0);
    expect(events.neighbour(1, 20, ab, 1)).toBe(4);
    expect(events.neighbour(4, 20, ab, -1)).toBe(1);
  });

  it("counts the matches before each event", () => {
    expect([...events.highlight(Uint8Array.of(1, 0, 0)).sums]).toEqual([0, 1, 1, 2, 2, 3]);
  });
});
