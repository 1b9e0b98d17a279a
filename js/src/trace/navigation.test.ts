import { beforeEach, describe, expect, it } from "vitest";
import { FakeModel } from "../lib/model.testing";
import type { Written } from "./data/encode.testing";
import { Kernel } from "./kernel";
import { Navigation } from "./navigation";
import { LANE_PX, SECTION_PX } from "./rows";
import type { State } from "./state";
import { LABELS_PX, stateOf } from "./state.testing";

// A pixel is one unit. Slices 0 and 1 are on lane 0, 2 and 3 on lane 1, and 4 on lane 2, which is another track.
const TRACKS: Written[][][] = [
  [
    [
      [0, 400, "fit"],
      [500, 300, "fit"],
    ],
    [
      [100, 50, "MatMul"],
      [600, 100, "MatMul"],
    ],
  ],
  [[[50, 10, "Relu"]]],
];
const HEAD_PX = 20;
const LANE_0 = HEAD_PX + SECTION_PX + LANE_PX / 2;

let state: State;
let listener: Awaited<ReturnType<typeof stateOf>>["listener"];
let model: FakeModel<object>;
let navigation: Navigation;

async function view(header = {}) {
  ({ state, listener } = await stateOf(TRACKS, header));
  model = new FakeModel<object>({});
  navigation = new Navigation(state, new Kernel(model, new AbortController().signal));
}

const visible = () => [state.viewport.start, state.viewport.end];

beforeEach(() => view());

describe("navigation", () => {
  it("zooms at the pointer, or at the middle", () => {
    navigation.zoom(2);
    expect(visible()).toEqual([200, 600]);
    navigation.showAll();
    navigation.hover(LABELS_PX + 200, LANE_0);
    navigation.zoom(2);
    expect(visible()).toEqual([100, 500]);
    expect(listener.moved).toHaveBeenCalledTimes(3);
  });

  it("selects the slice under the pointer, and nothing beside one", () => {
    navigation.click(LABELS_PX + 120, LANE_0 + LANE_PX);
    expect(state.selection).toMatchObject({ event: 2, lane: 1, start: 100, duration: 50 });
    navigation.click(LABELS_PX + 300, LANE_0 + LANE_PX);
    expect(state.selection).toBeNull();
    expect(listener.selected.mock.calls.map(([slice]) => slice?.event)).toEqual([2, undefined]);
  });

  it("knows what is under the pointer after the trace moved below it", () => {
    navigation.show(0, 400);
    navigation.hover(LABELS_PX + 250, LANE_0 + LANE_PX);
    expect(state.hovered).toBe(2);
    navigation.pan(100);
    expect(state.hovered).toBe(-1);
    navigation.pan(-100);
    expect(state.hovered).toBe(2);
  });

  it("shows the steps with a margin, of several hosts in any order, and everything without steps", async () => {
    navigation.show(0, 10);
    navigation.showSteps();
    expect(visible()).toEqual([0, 800]);
    const steps = [500_000, 300_000].map((start_ps, step) => ({ step, start_ps, duration_ps: 200_000 }));
    await view({ steps });
    navigation.showSteps();
    expect(visible()).toEqual([292, 708]);
  });

  it("leaves out warm-up steps, unless there are no others", async () => {
    const steps = [
      { step: 0, start_ps: 100_000, duration_ps: 300_000, warm_up: 1 },
      { step: 1, start_ps: 500_000, duration_ps: 200_000 },
    ];
    await view({ steps });
    navigation.showSteps();
    expect(visible()).toEqual([496, 704]);
    await view({ steps: steps.slice(0, 1) });
    navigation.showSteps();
    expect(visible()).toEqual([94, 406]);
  });

  it("fits the selected slice with a margin, else the selected range", () => {
    state.setRange({ start: 300, end: 400, tracks: null });
    navigation.fitSelection();
    expect(visible()).toEqual([290, 410]);
    navigation.select(state.slices.get(3));
    navigation.fitSelection();
    expect(visible()).toEqual([590, 710]);
  });

  it("leads to the next of a name, to what is enclosed and what encloses it", () => {
    navigation.select(state.slices.get(2));
    navigation.nextOfName(1);
    expect(state.selection?.event).toBe(3);
    navigation.nest(-1);
    expect(state.selection?.event).toBe(1);
    navigation.nest(1);
    expect(state.selection?.event).toBe(3);
    navigation.nextOfName(1);
    expect(state.selection?.event).toBe(3);
    expect(model.sent).toEqual([]);
  });

  it("asks the kernel for the next of a name if events are merged", async () => {
    await view({ merged: true });
    navigation.select(state.slices.get(2));
    navigation.nextOfName(-1);
    const question = { names: [1], after: 2, start_ps: 100_000, direction: -1 };
    expect(model.sent).toEqual([{ type: "find", ...question, id: 1 }]);
    const found = { event: 7, track: 1, lane: 2, name: 2, start_ps: 50_000, duration_ps: 10_000 };
    model.emit("msg:custom", { type: "find", id: 1, found });
    expect(state.selection).toEqual({ event: 7, lane: 2, name: 2, start: 50, duration: 10, events: 1 });
  });

  it("asks the kernel where an event is that no slice shows", () => {
    navigation.selectEvent(1);
    expect(model.sent).toEqual([]);
    navigation.selectEvent(99);
    expect(model.sent).toEqual([{ type: "place", event: 99, id: 1 }]);
  });

  it("brings what it selects into view: unfolds it, scrolls, and moves in time", () => {
    navigation.select(state.slices.get(0));
    navigation.fold("track");
    navigation.select(null);
    navigation.show(700, 800);
    expect(state.rows.topOf(1)).toBe(-1);
    state.resize(state.width, HEAD_PX + LANE_PX);
    navigation.select(state.slices.get(2));
    expect(state.rows.topOf(1)).toBe(SECTION_PX + LANE_PX);
    expect(state.scrollTop).toBeGreaterThan(SECTION_PX);
    expect(visible()).toEqual([75, 175]);
  });

  it("zooms to a band, whichever way it was drawn", () => {
    navigation.markBand(LABELS_PX + 600, LABELS_PX - 50);
    expect(state.band).toEqual([LABELS_PX + 600, LABELS_PX]);
    navigation.showBand(LABELS_PX + 600, LABELS_PX + 200);
    expect([state.band, ...visible()]).toEqual([null, 200, 600]);
  });
});
