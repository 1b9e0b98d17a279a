import { beforeEach, describe, expect, it } from "vitest";
import type { Written } from "./data/encode.testing";
import { Drag } from "./drag";
import { RangeSelection, snap } from "./range";
import { LANE_PX, SECTION_PX } from "./rows";
import type { State } from "./state";
import { LABELS_PX, stateOf } from "./state.testing";

// Eight pixels are one unit.
const TRACKS: Written[][][] = [
  [
    [[0, 100, "fit"]],
    [
      [10, 40, "MatMul"],
      [60, 20, "MatMul"],
    ],
  ],
  [[[0, 5, "worker"]]],
];
const HEAD_PX = 20;

let state: State;
let settled: () => unknown;
let ranges: RangeSelection;

beforeEach(async () => {
  const view = await stateOf(TRACKS);
  state = view.state;
  settled = () => view.listener.rangeSettled.mock.calls.at(-1)?.[0];
  ranges = new RangeSelection(state);
});

const x = (time: number) => LABELS_PX + 8 * time;
const y = (lane: number) => HEAD_PX + SECTION_PX + LANE_PX * (lane + 0.5);

describe("the selected range", () => {
  it("is on the tracks between two positions, or on all tracks from the ruler on", () => {
    ranges.selectArea(x(60), y(1), x(20), y(0));
    expect(state.range).toEqual({ start: 20, end: 60, tracks: new Set([0]) });
    ranges.selectArea(x(20), 5, x(60), y(0));
    expect(state.range).toEqual({ start: 20, end: 60, tracks: null });
  });

  it("snaps to the edges of slices when it is measured", () => {
    ranges.measure(x(10.4), y(1), x(59.6), y(1));
    expect(state.range).toEqual({ start: 10, end: 60, tracks: null });
  });

  it("keeps one end while the other is dragged, and is settled at the end of the drag", () => {
    const navigation = { pan() {}, scroll: () => true, markBand() {}, showBand() {} };
    const drag = (from: number, to: number) => {
      const one = new Drag(navigation, ranges, "timing", x(from), y(0));
      one.to(x(to), y(1));
      return one;
    };
    ranges.measure(x(10), y(1), x(60), y(1));
    const end = drag(60.2, 80.3);
    expect([state.range?.start, state.range?.end]).toEqual([10, 80]);
    expect(settled()).toBeUndefined();
    end.end(x(80.3));
    expect(settled()).toEqual({ start: 10, end: 80, tracks: null });
    drag(9.8, 49.9).end(x(49.9));
    expect(settled()).toEqual({ start: 50, end: 80, tracks: null });
  });

  it("is marked around the selected slice, else around all that is visible, and cleared the second time", () => {
    ranges.mark();
    expect(settled()).toEqual({ start: 0, end: 100, tracks: null });
    state.select(state.slices.get(1));
    ranges.mark();
    expect(settled()).toEqual({ start: 10, end: 50, tracks: null });
    ranges.mark();
    expect(settled()).toBeNull();
  });
});

describe("snap", () => {
  it("goes to the nearest edge nearby, else stays", () => {
    expect(snap(state.slices, 1, 48, 5)).toBe(50);
    expect(snap(state.slices, 1, 57, 5)).toBe(60);
    expect(snap(state.slices, 1, 30, 5)).toBe(30);
    expect(snap(state.slices, -1, 48, 5)).toBe(48);
  });
});
