import type { CssPx, TraceTime } from "../lib/units";
import type { Slices } from "./data/slices";
import { headPx } from "./draw/scene";
import { heightInRows, laneAt, timeAt } from "./hit_test";
import type { State } from "./state";

const SNAP_PX = 6;
const MAX_SNAPPED = 100;

/** A stretch of time, on all tracks or on some. */
export interface SelectedRange {
  start: TraceTime;
  end: TraceTime;
  /** Indices into the header's tracks; null for all. */
  tracks: Set<number> | null;
}

/** Selects ranges, by dragging or by key. While the pointer moves, a range is shown; at the end it is settled. */
export class RangeSelection {
  constructor(private readonly state: State) {}

  /** Selects the time between two positions, on the tracks between them. */
  selectArea(fromX: CssPx, fromY: CssPx, toX: CssPx, toY: CssPx): void {
    const { state } = this;
    const onHead = fromY < headPx(state.header);
    const tracks = onHead
      ? null
      : state.rows.tracksBetween(heightInRows(state, fromY), heightInRows(state, toY));
    this.set(timeAt(state, fromX), timeAt(state, toX), tracks?.size ? tracks : null);
  }

  /** Selects the time between two positions, snapped to the edges of slices nearby. */
  measure(fromX: CssPx, fromY: CssPx, toX: CssPx, toY: CssPx): void {
    this.set(this.edgeAt(fromX, fromY), this.edgeAt(toX, toY), null);
  }

  /** The other end of the range if one of its ends is near a position, else -1. */
  otherEnd(x: CssPx): CssPx {
    const { range, viewport, labelWidth } = this.state;
    if (!range) return -1;
    const [left, right] = [labelWidth + viewport.toPx(range.start), labelWidth + viewport.toPx(range.end)];
    if (Math.abs(x - left) <= SNAP_PX) return right;
    return Math.abs(x - right) <= SNAP_PX ? left : -1;
  }

  /** Selects the selected slice's time, or the visible range; clears the range if it is the same already. */
  mark(): void {
    const { selection, viewport, range } = this.state;
    const start = selection?.start ?? viewport.start;
    const end = selection ? start + selection.duration : viewport.end;
    if (range?.start === start && range.end === end) this.state.setRange(null);
    else this.set(start, end, null);
    this.settle();
  }

  clear(): void {
    this.state.setRange(null);
    this.settle();
  }

  settle(): void {
    this.state.settleRange();
  }

  private set(a: TraceTime, b: TraceTime, tracks: Set<number> | null): void {
    this.state.setRange({ start: Math.min(a, b), end: Math.max(a, b), tracks });
  }

  private edgeAt(x: CssPx, y: CssPx): TraceTime {
    const { state } = this;
    return snap(state.slices, laneAt(state, y), timeAt(state, x), SNAP_PX * state.viewport.timePerPx);
  }
}

/** The start or end of a slice of the lane that is nearest to `time`, if it is within `slack`; else `time`. */
export function snap(slices: Slices, lane: number, time: TraceTime, slack: TraceTime): TraceTime {
  if (lane < 0) return time;
  const [from, to] = slices.visible(lane, time - slack, time + slack);
  let nearest = time;
  let least = slack;
  for (let i = from; i < Math.min(to, from + MAX_SNAPPED); i++) {
    for (const edge of [slices.startOf(i), slices.endOf(i)]) {
      if (Math.abs(edge - time) <= least) {
        least = Math.abs(edge - time);
        nearest = edge;
      }
    }
  }
  return nearest;
}
