/** A stretch of time, on all tracks or some, and what ran in it. */
import type { Events } from "./data/slices";
import type { Rows } from "./rows";

export interface Range {
  start: number;
  end: number;
  /** Indices into the header's tracks; null for all. */
  tracks: Set<number> | null;
}

/** What the events of one name did within a range; times in the trace's unit, only as far as they lie in it. */
export interface RangeTotal {
  /** Index into the header's names. */
  name: number;
  count: number;
  total: number;
  /** Without the events inside. */
  self: number;
}

/** Sums up what ran in a range, by name, the most self time first. */
export function rangeTotals(events: Events, rows: Rows, range: Range): RangeTotal[] {
  const found = new Map<number, RangeTotal>();
  for (let lane = 0; lane + 1 < events.lanes.length; lane++) {
    if (range.tracks && !range.tracks.has(rows.trackOf(lane))) continue;
    const above = rows.depthOf(lane) > 0 ? lane - 1 : -1;
    addLane(found, events, lane, above, range);
  }
  return [...found.values()].sort((a, b) => b.self - a.self || a.name - b.name);
}

function addLane(
  found: Map<number, RangeTotal>,
  events: Events,
  lane: number,
  above: number,
  { start, end }: Range,
): void {
  const [from, to] = events.visible(lane, start, end);
  let [parent, parents] = above < 0 ? [0, 0] : events.visible(above, start, end);
  for (let i = from; i < to; i++) {
    const length = Math.min(events.end(i), end) - Math.max(events.start[i], start);
    const total = totalOf(found, events.name[i]);
    total.count += events.countOf(i);
    total.total += length;
    total.self += length;
    while (parent + 1 < parents && events.start[parent + 1] <= events.start[i]) parent += 1;
    // Events that overlap without nesting lie below one another too: those are no part of what is above them.
    if (parent < parents && events.start[parent] <= events.start[i] && events.end(parent) >= events.end(i))
      totalOf(found, events.name[parent]).self -= length;
  }
}

function totalOf(found: Map<number, RangeTotal>, name: number): RangeTotal {
  let total = found.get(name);
  if (!total) {
    total = { name, count: 0, total: 0, self: 0 };
    found.set(name, total);
  }
  return total;
}

/** The start or end of an event of `lane` nearest to `time`, if one is within `slack`; else `time`. */
export function snap(events: Events, lane: number, time: number, slack: number): number {
  if (lane < 0) return time;
  const [from, to] = events.visible(lane, time - slack, time + slack);
  let best = time;
  let least = slack;
  for (let i = from; i < Math.min(to, from + 100); i++) {
    for (const edge of [events.start[i], events.end(i)]) {
      if (Math.abs(edge - time) <= least) {
        least = Math.abs(edge - time);
        best = edge;
      }
    }
  }
  return best;
}
