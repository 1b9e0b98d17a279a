import { Longest } from "./longest";

/** Count and total duration of the events of one name. */
export interface Totals {
  count: number;
  total: number;
}

/** Which events to show in full colour while the others are dimmed. */
export interface Highlight {
  /** 1 for each name that matches. */
  names: Uint8Array;
  /** `sums[j] - sums[i]` is the number of matching events in [i, j). */
  sums: Uint32Array;
}

/**
 * All events of a trace as columns. Events of a lane are ordered by start and do not overlap; times are in the trace's
 * unit from its beginning.
 */
export class Events {
  readonly count: number;
  private readonly longest: Longest;

  constructor(
    readonly start: Float64Array,
    /** Cumulated durations, over all lanes: `busy[i + 1] - busy[i]` is the duration of event i. */
    readonly busy: Float64Array,
    readonly name: Uint32Array,
    /** Lane k holds the events from `lanes[k]` to `lanes[k + 1]`. */
    readonly lanes: Uint32Array,
  ) {
    this.count = start.length;
    this.longest = new Longest(busy);
  }

  duration(event: number): number {
    return this.busy[event + 1] - this.busy[event];
  }

  end(event: number): number {
    return this.start[event] + this.duration(event);
  }

  /** The lane that holds `event`. */
  laneOf(event: number): number {
    let low = 0;
    let high = this.lanes.length - 1;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if (this.lanes[middle] <= event) low = middle;
      else high = middle;
    }
    // Empty lanes share their offset with the next one.
    while (this.lanes[low + 1] <= event) low += 1;
    return low;
  }

  /** The first event in [from, to) that starts at or after `time`, else `to`. */
  firstStarting(from: number, to: number, time: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.start[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Same, for when the answer is likely near `from`: looks 1, 2, 4 ... ahead first. */
  nextStarting(from: number, to: number, time: number): number {
    let low = from;
    let jump = 1;
    while (low + jump < to && this.start[low + jump] < time) {
      low += jump;
      jump *= 2;
    }
    return this.firstStarting(low, Math.min(low + jump, to), time);
  }

  /** The events of a lane that are at least partly within [begin, end), as a range. */
  visible(lane: number, begin: number, end: number): [number, number] {
    const low = this.lanes[lane];
    const high = this.lanes[lane + 1];
    const to = this.firstStarting(low, high, end);
    const from = this.firstStarting(low, to, begin);
    return [from > low && this.end(from - 1) > begin ? from - 1 : from, to];
  }

  longestOf(from: number, to: number): number {
    return this.longest.query(from, to);
  }

  /** Count and total of the events called `name` that are at least partly within [begin, end). */
  totals(name: number, begin: number, end: number): Totals {
    let count = 0;
    let total = 0;
    for (let lane = 0; lane + 1 < this.lanes.length; lane++) {
      const [from, to] = this.visible(lane, begin, end);
      for (let i = from; i < to; i++) {
        if (this.name[i] !== name) continue;
        count += 1;
        total += this.busy[i + 1] - this.busy[i];
      }
    }
    return { count, total };
  }

  highlight(names: Uint8Array): Highlight {
    const sums = new Uint32Array(this.count + 1);
    for (let i = 0; i < this.count; i++) sums[i + 1] = sums[i] + names[this.name[i]];
    return { names, sums };
  }

  /**
   * The matching event next in time after (`direction` 1) or before (-1) the one given, over all lanes, or -1. Events
   * that start together are taken in lane order.
   */
  neighbour(event: number, time: number, names: Uint8Array, direction: 1 | -1): number {
    let found = -1;
    for (let i = 0; i < this.count; i++) {
      if (names[this.name[i]] === 0 || i === event) continue;
      if (direction * this.order(i, this.start[i], event, time) <= 0) continue;
      if (found < 0 || direction * this.order(i, this.start[i], found, this.start[found]) < 0) found = i;
    }
    return found;
  }

  private order(a: number, aStart: number, b: number, bStart: number): number {
    return aStart - bStart || a - b;
  }
}
