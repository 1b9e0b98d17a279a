import type { Events } from "./data/slices";
import type { Viewport } from "./viewport";

const SLACK_PX = 2;

/** The event of `lane` drawn at `px` (CSS pixels from the left of the plot), or the longest one just beside it, or -1. */
export function eventAt(events: Events, viewport: Viewport, lane: number, px: number): number {
  const time = viewport.toTime(px);
  const [from, to] = events.visible(lane, viewport.toTime(px - SLACK_PX), viewport.toTime(px + SLACK_PX));
  if (from === to) return -1;
  const last = events.firstStarting(from, to, time) - 1;
  return last >= from && events.end(last) > time ? last : events.longestOf(from, to);
}
