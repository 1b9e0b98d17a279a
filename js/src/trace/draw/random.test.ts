import { describe, expect, it } from "vitest";
import { Events, type Identity } from "../data/slices";
import { eventAt } from "../hit_test";
import { Viewport } from "../viewport";
import { Ink, LIGHT } from "./colors";
import { drawLane } from "./slices";

// Random lanes and viewports against the plainest picture. Times are whole and scales powers of two, so that pixel
// edges are exact.
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
    at = start + [0, pick(4), pick(30), pick(400)][pick(4)];
    return { start, end: at, name: pick(NAMES) };
  });
}

function columns(lanes: Plain[][], identity: Identity | null = null): Events {
  const all = lanes.flat();
  const busy = new Float64Array(all.length + 1);
  for (const [k, { start, end }] of all.entries()) busy[k + 1] = busy[k] + end - start;
  const bounds = Uint32Array.from([0, ...lanes.map((_, k) => lanes.slice(0, k + 1).flat().length)]);
  const start = Float64Array.from(all, (event) => event.start);
  return new Events(
    start,
    busy,
    Uint32Array.from(all, (event) => event.name),
    bounds,
    identity,
  );
}

/** Merges what is shorter than a bin and starts in the same bin, as the kernel does. */
function merged(events: Plain[], bin: number): { lane: Plain[]; counts: number[]; ids: number[] } {
  const runs: { first: number; members: Plain[] }[] = [];
  events.forEach((event, k) => {
    const last = runs.at(-1);
    const short = event.end - event.start < bin;
    const joins =
      short &&
      last?.members.every((m) => m.end - m.start < bin) &&
      Math.floor(last.members[0].start / bin) === Math.floor(event.start / bin);
    if (joins) last?.members.push(event);
    else runs.push({ first: k, members: [event] });
  });
  const longest = runs.map(({ members }) =>
    members.reduce((best, m, k) => (m.end - m.start > members[best].end - members[best].start ? k : best), 0),
  );
  return {
    lane: runs.map(({ members }, r) => ({
      start: members[0].start,
      end: members.at(-1)?.end ?? 0,
      name: members[longest[r]].name,
    })),
    counts: runs.map(({ members }) => members.length),
    ids: runs.map(({ first }, r) => first + longest[r]),
  };
}

function view(pick: (below: number) => number): { begin: number; perPx: number } {
  return { perPx: 2 ** (pick(9) - 3), begin: pick(2000) - 100 };
}

function drawn(events: Events, at: { begin: number; perPx: number }): Uint32Array {
  const line = new Uint32Array(WIDTH + 2);
  drawLane(line, 1, WIDTH, 0, { events, ...at, colors, ink, highlight: null });
  expect([line[0], line[WIDTH + 1]]).toEqual([0, 0]);
  return line.slice(1, WIDTH + 1);
}

/** The pixels in which anything ran. */
function pixelsOf(events: Plain[], { begin, perPx }: { begin: number; perPx: number }): boolean[] {
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
      const at = view(pick);
      const picture = drawn(columns([events]), at);
      expect(
        [...picture].map((pixel) => pixel !== 0),
        `seed ${seed}`,
      ).toEqual(pixelsOf(events, at));
    }
  });

  it("show nothing but colours of what ran in the pixel", () => {
    const shades = (name: number) => Array.from({ length: 33 }, (_, k) => ink.shade(name, k / 32));
    const ofName = Array.from({ length: NAMES }, (_, name) => new Set(shades(name)));
    for (let seed = 1; seed <= ROUNDS / 5; seed++) {
      const pick = random(seed);
      const events = lane(pick);
      const at = view(pick);
      const picture = drawn(columns([events]), at);
      const there = Array.from({ length: WIDTH }, () => new Set<number>());
      for (const event of events)
        for (const [x, is] of pixelsOf([event], at).entries()) if (is) there[x].add(event.name);
      picture.forEach((pixel, x) => {
        const right = pixel === 0 || [...there[x]].some((name) => ofName[name].has(pixel));
        expect(right, `seed ${seed}, pixel ${x}`).toBe(true);
      });
    }
  });

  it("lose no event and no lane by merging, at bins up to a pixel", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const pick = random(seed);
      // An event of no length at the very end of a run has no pixel of its own any more.
      const [first, second] = [lane(pick), lane(pick)].map((events) => events.filter((e) => e.end > e.start));
      const at = view(pick);
      const parts = [first, second].map((events) => merged(events, at.perPx / 2 ** pick(3)));
      const ids = Uint32Array.from([...parts[0].ids, ...parts[1].ids.map((id) => id + first.length)]);
      const counts = Uint32Array.from(parts.flatMap((part) => part.counts));
      const events = columns([parts[0].lane, parts[1].lane], { ids, counts, fill: null });
      const whole = pixelsOf(first, at);
      drawn(events, at).forEach((pixel, x) => {
        if (whole[x]) expect(pixel, `seed ${seed}, pixel ${x}`).not.toBe(0);
      });
      for (const id of ids) {
        const slice = events.indexOf(id);
        expect(events.idOf(slice)).toBe(id);
        expect(events.laneOf(slice)).toBe(id < first.length ? 0 : 1);
      }
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(first.length + second.length);
    }
  });

  it("find under the pointer what is drawn there", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const pick = random(seed);
      const plain = lane(pick);
      const { begin, perPx } = view(pick);
      const viewport = new Viewport(1e6, 1e-3);
      viewport.width = WIDTH;
      viewport.show(Math.max(begin, 0), Math.max(begin, 0) + WIDTH * perPx);
      const px = pick(WIDTH) + 0.5;
      const time = viewport.toTime(px);
      const found = eventAt(columns([plain]), viewport, 0, px);
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
      const kept = all.keep((k) => all.duration(k) >= least);
      const expected = [...Array(all.count).keys()].filter((k) => all.duration(k) >= least);
      expect([...Array(kept.count).keys()].map((k) => kept.idOf(k))).toEqual(expected);
      expected.forEach((id, k) => {
        expect([kept.start[k], kept.duration(k), kept.name[k]]).toEqual([
          all.start[id],
          all.duration(id),
          all.name[id],
        ]);
        expect(kept.laneOf(k)).toBe(all.laneOf(id));
      });
    }
  });
});
