/** The slices that the arrow keys lead to. All functions return -1 if there is none. */
import type { Slice, Slices } from "./data/slices";
import type { Rows } from "./rows";
import type { Viewport } from "./viewport";

/** Where the arrow keys start without a selection: the longest visible slice of the first lane that has one. */
export function firstVisible(slices: Slices, rows: Pick<Rows, "topOf">, viewport: Viewport): number {
  for (let lane = 0; lane < slices.laneCount; lane++) {
    const [from, to] = slices.visible(lane, viewport.start, viewport.end);
    if (from < to && rows.topOf(lane) >= 0) return slices.longestIn(from, to);
  }
  return -1;
}

/** Flags one of `count` names. */
export function flagged(count: number, name: number): Uint8Array {
  const names = new Uint8Array(count);
  names[name] = 1;
  return names;
}

/** The slice that encloses another (-1), or the longest one that it encloses (1), on the same track. */
export function nested(slices: Slices, rows: Pick<Rows, "trackOf">, slice: Slice, direction: 1 | -1): number {
  const lane = slice.lane + direction;
  if (lane < 0 || lane >= slices.laneCount || rows.trackOf(lane) !== rows.trackOf(slice.lane)) return -1;
  const [from, to] = slices.visible(lane, slice.start, slice.start + slice.duration);
  return from < to ? slices.longestIn(from, to) : -1;
}
