import { describe, expect, it } from "vitest";
import { at } from "../../lib/at";
import { type Identity, Slices } from "../data/slices";
import { sliceInLane } from "../hit_test";
import { Viewport } from "../viewport";
import { Ink, LIGHT } from "./colors";
import { drawLane } from "./slices";

// Random lanes and viewports, compared with the simplest way to draw them. Times are whole and scales powers of two, so
// that the edges of pixels are exact.
const ROUNDS = 300;
const WIDTH = 64;
const NAMES = 5;
const ink = new Ink(LIGHT);
const colors = Uint8Array.from({ length: NAMES }, (_, k) => k);

function random(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Plain {
  start: number;
  end: number;
  name: number;
}

/** Events of one lane: some long, most short, some of no length. */
function lane(pick: (below: number) => number): Plain[] {
  let at = 0;
  return Array.from({ length: pick(120) }, () => {
    const start = at + pick(4) * pick(60);
    const lengths = [0, pick(4), pick(30), pick(400)];
    at = start + (lengths[pick(4)] ?? 0);
    return { start, end: at, name: pick(NAMES) };
  });
}

function columns(lanes: Plain[][], identity: Identity | null = null): Slices {
  const all = lanes.flat();
  const busy = new Float64Array(all.length + 1);
  let sum = 0;
  for (const [k, { start, end }] of all.entries()) {
    sum += end - start;
    busy[k + 1] = sum;
  }
  const bounds = Uint32Array.from([0, ...lanes.map((_, k) => lanes.slice(0, k + 1).flat().length)]);
  const start = Float64Array.from(all, (event) => event.start);
  return new Slices(
    start,
    busy,
    Uint32Array.from(all, (event) => event.name),
    bounds,
    identity,
  );
}

interface Merged {
  lane: Plain[];
  counts: number[];
  ids: number[];
}

/** Merges events that are shorter than a bin and start in the same bin, as the kernel does. */
function merged(events: Plain[], bin: number): Merged {
  const runs: { start: number; id: number; longest: Plain; last: Plain; count: number }[] = [];
  const lengthOf = ({ start, end }: Plain) => end - start;
  events.forEach((event, id) => {
    const run = runs.at(-1);
    const short = lengthOf(event) < bin && run && lengthOf(run.longest) < bin;
    if (short && Math.floor(run.start / bin) === Math.floor(event.start / bin)) {
      if (lengthOf(event) > lengthOf(run.longest)) Object.assign(run, { id, longest: event });
      run.last = event;
      run.count += 1;
    } else runs.push({ start: event.start, id, longest: event, last: event, count: 1 });
  });
  return {
    lane: runs.map(({ start, last, longest }) => ({ start, end: last.end, name: longest.name })),
    counts: runs.map(({ count }) => count),
    ids: runs.map(({ id }) => id),
  };
}

interface View {
  begin: number;
  perPx: number;
}

function randomView(pick: (below: number) => number): View {
  return { perPx: 2 ** (pick(9) - 3), begin: pick(2000) - 100 };
}

function drawn(slices: Slices, view: View): Uint32Array {
  const line = new Uint32Array(WIDTH + 2);
  drawLane(line, 1, WIDTH, 0, { slices, ...view, colors, ink, highlight: null });
  expect([line[0], line[WIDTH + 1]]).toEqual([0, 0]);
  return line.slice(1, WIDTH + 1);
}

/** The pixels in which anything ran. */
function pixelsOf(events: Plain[], { begin, perPx }: View): boolean[] {
  return Array.from({ length: WIDTH }, (_, x) => {
    const [from, to] = [begin + x * perPx, begin + (x + 1) * perPx];
    return events.some(({ start, end }) => (start < to && end > from) || (start >= from && start < to));
  });
}

describe("random lanes and viewports", () => {
  it("show something in every pixel in which anything ran, and nothing elsewhere", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const pick = random(seed);
      const events = lane(pick);
      const view = randomView(pick);
      const picture = drawn(columns([events]), view);
      expect(
        [...picture].map((pixel) => pixel !== 0),
        `seed ${seed}`,
      ).toEqual(pixelsOf(events, view));
    }
  });

  it("show nothing but colours of what ran in the pixel", () => {
    const shades = (name: number) => Array.from({ length: 33 }, (_, k) => ink.shade(name, k / 32));
    const ofName = Array.from({ length: NAMES }, (_, name) => new Set(shades(name)));
    for (let seed = 1; seed <= ROUNDS / 5; seed++) {
      const pick = random(seed);
      const events = lane(pick);
      const view = randomView(pick);
      const picture = drawn(columns([events]), view);
      const there = Array.from({ length: WIDTH }, () => new Set<number>());
      for (const event of events)
        for (const [x, is] of pixelsOf([event], view).entries()) if (is) there[x]?.add(event.name);
      picture.forEach((pixel, x) => {
        const right = pixel === 0 || [...at(there, x)].some((name) => ofName[name]?.has(pixel));
        expect(right, `seed ${seed}, pixel ${x}`).toBe(true);
      });
    }
  });

  it("lose no event and no lane by merging, at bins up to a pixel", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const pick = random(seed);
      // An event of no length at the very end of a run has no pixel of its own any more.
      const randomLane = () => lane(pick).filter((event) => event.end > event.start);
      const [first, second] = [randomLane(), randomLane()];
      const view = randomView(pick);
      const merge = (events: Plain[]) => merged(events, view.perPx / 2 ** pick(3));
      const [before, after] = [merge(first), merge(second)];
      const ids = Uint32Array.from([...before.ids, ...after.ids.map((id) => id + first.length)]);
      const counts = Uint32Array.from([...before.counts, ...after.counts]);
      const slices = columns([before.lane, after.lane], { ids, counts, fill: null });
      const whole = pixelsOf(first, view);
      drawn(slices, view).forEach((pixel, x) => {
        if (whole[x]) expect(pixel, `seed ${seed}, pixel ${x}`).not.toBe(0);
      });
      for (const id of ids) {
        const slice = slices.indexOf(id);
        expect(slices.eventOf(slice)).toBe(id);
        expect(slices.laneOf(slice)).toBe(id < first.length ? 0 : 1);
      }
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(first.length + second.length);
    }
  });

  it("find under the pointer what is drawn there", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const pick = random(seed);
      const plain = lane(pick);
      const { begin, perPx } = randomView(pick);
      const viewport = new Viewport(1e6, 1e-3);
      viewport.width = WIDTH;
      viewport.show(Math.max(begin, 0), Math.max(begin, 0) + WIDTH * perPx);
      const px = pick(WIDTH) + 0.5;
      const time = viewport.toTime(px);
      const found = sliceInLane(columns([plain]), viewport, 0, px);
      const under = plain.findIndex(({ start, end }) => start <= time && end > time);
      if (under >= 0) expect(found, `seed ${seed}`).toBe(under);
    }
  });

  it("keep ids, order and lanes when a filter leaves events out", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const pick = random(seed);
      const lanes = [lane(pick), lane(pick)];
      const all = columns(lanes);
      const least = pick(40);
      const kept = all.filter((k) => all.durationOf(k) >= least);
      const expected = [...Array(all.count).keys()].filter((k) => all.durationOf(k) >= least);
      expect([...Array(kept.count).keys()].map((k) => kept.eventOf(k))).toEqual(expected);
      expected.forEach((id, k) => {
        expect([kept.startOf(k), kept.durationOf(k), kept.nameOf(k)]).toEqual([
          all.startOf(id),
          all.durationOf(id),
          all.nameOf(id),
        ]);
        expect(kept.laneOf(k)).toBe(all.laneOf(id));
      });
    }
  });
});
