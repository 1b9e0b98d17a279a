/** From one event to another by keyboard. All functions answer with an event, or -1 where there is none. */
import type { Events } from "./events";
import type { Rows } from "./rows";
import type { Viewport } from "./viewport";

/** Where a walk starts: the longest event in sight of the first lane that has one. */
export function anyInSight(events: Events, rows: Rows, viewport: Viewport): number {
  for (let lane = 0; lane + 1 < events.lanes.length; lane++) {
    const [from, to] = events.visible(lane, viewport.start, viewport.end);
    if (from < to && rows.topOf(lane) >= 0) return events.longestOf(from, to);
  }
  return -1;
}

/** The next or previous event in time that has the name of `event`; `names` is the number of names. */
export function ofSameName(events: Events, names: number, event: number, direction: 1 | -1): number {
  const wanted = new Uint8Array(names);
  wanted[events.name[event]] = 1;
  return events.neighbour(event, events.start[event], wanted, direction);
}

/** The event that encloses `event` (-1), or the longest one that it encloses (1), on the same track. */
export function nested(events: Events, rows: Rows, event: number, direction: 1 | -1): number {
  const from = events.laneOf(event);
  const lane = from + direction;
  if (lane < 0 || lane + 1 >= events.lanes.length || rows.trackOf(lane) !== rows.trackOf(from)) return -1;
  const [first, last] = events.visible(lane, events.start[event], events.end(event));
  return first < last ? events.longestOf(first, last) : -1;
}
