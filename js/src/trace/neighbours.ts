/** From one event to another by keyboard. All functions answer with an event, or -1 where there is none. */
import type { Events, Place } from "./data/slices";
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

/** The next or previous event in time that has the name of `place`; `names` is the number of names. */
export function ofSameName(events: Events, names: number, place: Place, direction: 1 | -1): number {
  const wanted = new Uint8Array(names);
  wanted[place.name] = 1;
  return events.neighbour(place.event, place.start, wanted, direction);
}

/** The event that encloses `place` (-1), or the longest one that it encloses (1), on the same track. */
export function nested(events: Events, rows: Rows, place: Place, direction: 1 | -1): number {
  const lane = place.lane + direction;
  if (lane < 0 || lane + 1 >= events.lanes.length || rows.trackOf(lane) !== rows.trackOf(place.lane))
    return -1;
  const [first, last] = events.visible(lane, place.start, place.start + place.duration);
  return first < last ? events.longestOf(first, last) : -1;
}
