import { lowerBound } from "../../lib/binary_search";
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

/** Which events the slices stand for. */
export interface Identity {
  /** The number of the event, of several merged ones that of the longest; ascending. */
  ids: Uint32Array;
  /** How many events each slice stands for; null for one each. */
  counts: Uint32Array | null;
  /** The share of its time in which these ran, 0 to 255; null for all of it. */
  fill: Uint8Array | null;
}

/** One event and where it is drawn; times are in the trace's unit. */
export interface Place {
  event: number;
  lane: number;
  start: number;
  duration: number;
  /** Index into the header's names. */
  name: number;
  /** How many events are merged in the slice that it was picked from. */
  merged: number;
}

/**
 * The events of a trace as columns, or slices that stand for several. Events of a lane are ordered by start and do not
 * overlap; times are in the trace's unit from its beginning.
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
    /** Null where slice k is event k. */
    private readonly identity: Identity | null = null,
  ) {
    this.count = start.length;
    this.longest = new Longest(busy);
  }

  /** Number of the event that a slice shows. */
  idOf(slice: number): number {
    return this.identity ? this.identity.ids[slice] : slice;
  }

  /** How many events a slice stands for. */
  countOf(slice: number): number {
    return this.identity?.counts?.[slice] ?? 1;
  }

  /** The share of a slice's time in which its events ran. */
  fillOf(slice: number): number {
    const fill = this.identity?.fill;
    return fill ? fill[slice] / 255 : 1;
  }

  /** The slice that shows an event, or -1. */
  indexOf(event: number): number {
    if (!this.identity) return event < this.count ? event : -1;
    const { ids } = this.identity;
    const slice = lowerBound(ids, event);
    return ids[slice] === event ? slice : -1;
  }

  placeOf(slice: number): Place {
    return {
      event: this.idOf(slice),
      lane: this.laneOf(slice),
      start: this.start[slice],
      duration: this.duration(slice),
      name: this.name[slice],
      merged: this.countOf(slice),
    };
  }

  /** The slices that `test` keeps, as events of their own. */
  keep(test: (slice: number) => boolean): Events {
    const kept = new Uint32Array(this.count);
    const lanes = new Uint32Array(this.lanes.length);
    let size = 0;
    for (let lane = 0; lane + 1 < this.lanes.length; lane++) {
      for (let i = this.lanes[lane]; i < this.lanes[lane + 1]; i++) if (test(i)) kept[size++] = i;
      lanes[lane + 1] = size;
    }
    const from = kept.subarray(0, size);
    const busy = new Float64Array(size + 1);
    for (let k = 0; k < size; k++) busy[k + 1] = busy[k] + this.duration(from[k]);
    const start = Float64Array.from(from, (i) => this.start[i]);
    const name = Uint32Array.from(from, (i) => this.name[i]);
    const { counts = null, fill = null } = this.identity ?? {};
    return new Events(start, busy, name, lanes, {
      ids: Uint32Array.from(from, (i) => this.idOf(i)),
      counts: counts && Uint32Array.from(from, (i) => counts[i]),
      fill: fill && Uint8Array.from(from, (i) => fill[i]),
    });
  }

  duration(event: number): number {
    return this.busy[event + 1] - this.busy[event];
  }

  end(event: number): number {
    return this.start[event] + this.duration(event);
  }

  /** The lane that holds `event`. */
  laneOf(event: number): number {
    // Empty lanes share their offset with the next one: the last of them holds the event.
    return lowerBound(this.lanes, event + 1) - 1;
  }

  /** The first event in [from, to) that starts at or after `time`, else `to`. */
  firstStarting(from: number, to: number, time: number): number {
    return lowerBound(this.start, time, from, to);
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
        count += this.countOf(i);
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
   * The matching slice next in time after (`direction` 1) or before (-1) an event, over all lanes, or -1. Events that
   * start together are taken in lane order. `event` is -1 to go on from a time alone.
   */
  neighbour(event: number, time: number, names: Uint8Array, direction: 1 | -1): number {
    let found = -1;
    for (let i = 0; i < this.count; i++) {
      if (names[this.name[i]] === 0 || this.idOf(i) === event) continue;
      if (direction * (this.start[i] - time || this.idOf(i) - event) <= 0) continue;
      if (found < 0 || direction * (this.start[i] - this.start[found] || i - found) < 0) found = i;
    }
    return found;
  }
}
