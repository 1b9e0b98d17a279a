import { lowerBound } from "../../lib/binary_search";
import type { TraceTime } from "../../lib/units";
import { Longest } from "./longest";

/** The events of one name in a stretch of time: how many, and their total duration. */
export interface Totals {
  count: number;
  total: TraceTime;
}

/** Names to show in full colour while the others are dimmed. */
export interface Highlight {
  /** 1 for each name that matches. */
  names: Uint8Array;
  /** `sums[j] - sums[i]` is the number of matching slices in [i, j). */
  sums: Uint32Array;
}

/** Which events the slices stand for. */
export interface Identity {
  /** The number of the event, or of the longest of several; ascending. */
  ids: Uint32Array;
  /** How many events each slice stands for; null if each stands for one. */
  counts: Uint32Array | null;
  /** The share of its time in which its events ran, 0 to 255; null if they ran all the time. */
  fill: Uint8Array | null;
}

/** One slice as an object. */
export interface Slice {
  /** The number of its event, or of the longest of its events. */
  event: number;
  lane: number;
  start: TraceTime;
  duration: TraceTime;
  /** Index into the header's names. */
  name: number;
  /** How many events it stands for. */
  events: number;
}

/**
 * What is drawn of a trace, as columns: a slice stands for one event, or for several merged ones. The slices of a lane
 * are ordered by start and do not overlap.
 */
export class Slices {
  readonly count: number;
  private readonly longest: Longest;

  constructor(
    readonly start: Float64Array,
    /** Cumulated durations over all lanes: `busy[i + 1] - busy[i]` is the duration of slice i. */
    readonly busy: Float64Array,
    readonly name: Uint32Array,
    /** Lane k holds the slices from `lanes[k]` to `lanes[k + 1]`. */
    readonly lanes: Uint32Array,
    /** Null if slice k is event k. */
    private readonly identity: Identity | null = null,
  ) {
    this.count = start.length;
    this.longest = new Longest(busy);
  }

  get laneCount(): number {
    return this.lanes.length - 1;
  }

  startOf(slice: number): TraceTime {
    return this.start[slice] as number;
  }

  durationOf(slice: number): TraceTime {
    return this.busyIn(slice, slice + 1);
  }

  endOf(slice: number): TraceTime {
    return this.startOf(slice) + this.durationOf(slice);
  }

  /** Index into the header's names. */
  nameOf(slice: number): number {
    return this.name[slice] as number;
  }

  /** The number of the event that a slice shows. */
  eventOf(slice: number): number {
    return this.identity ? (this.identity.ids[slice] as number) : slice;
  }

  /** How many events a slice stands for. */
  eventsIn(slice: number): number {
    return this.identity?.counts?.[slice] ?? 1;
  }

  /** The share of a slice's time in which its events ran. */
  fillOf(slice: number): number {
    const fill = this.identity?.fill;
    return fill ? (fill[slice] as number) / 255 : 1;
  }

  /** The total duration of the slices in [from, to). */
  busyIn(from: number, to: number): TraceTime {
    return (this.busy[to] as number) - (this.busy[from] as number);
  }

  /** The lane that holds a slice. */
  laneOf(slice: number): number {
    // Empty lanes have the same offset as the next one: the last of them holds the slice.
    return lowerBound(this.lanes, slice + 1) - 1;
  }

  /** The slice that shows an event, or -1. */
  indexOf(event: number): number {
    if (!this.identity) return event < this.count ? event : -1;
    const { ids } = this.identity;
    const slice = lowerBound(ids, event);
    return ids[slice] === event ? slice : -1;
  }

  get(slice: number): Slice {
    return {
      event: this.eventOf(slice),
      lane: this.laneOf(slice),
      start: this.startOf(slice),
      duration: this.durationOf(slice),
      name: this.nameOf(slice),
      events: this.eventsIn(slice),
    };
  }

  /** The slices for which `test` is true, in columns of their own. */
  filter(test: (slice: number) => boolean): Slices {
    const kept = new Uint32Array(this.count);
    const lanes = new Uint32Array(this.lanes.length);
    let size = 0;
    for (let lane = 0; lane < this.laneCount; lane++) {
      const to = this.lanes[lane + 1] as number;
      for (let i = this.lanes[lane] as number; i < to; i++) if (test(i)) kept[size++] = i;
      lanes[lane + 1] = size;
    }
    const from = kept.subarray(0, size);
    const busy = new Float64Array(size + 1);
    for (let k = 0, sum = 0; k < size; k++) {
      sum += this.durationOf(from[k] as number);
      busy[k + 1] = sum;
    }
    const { counts = null, fill = null } = this.identity ?? {};
    const start = Float64Array.from(from, (slice) => this.startOf(slice));
    const name = Uint32Array.from(from, (slice) => this.nameOf(slice));
    return new Slices(start, busy, name, lanes, {
      ids: Uint32Array.from(from, (slice) => this.eventOf(slice)),
      counts: counts && Uint32Array.from(from, (slice) => counts[slice] as number),
      fill: fill && Uint8Array.from(from, (slice) => fill[slice] as number),
    });
  }

  /** The first slice in [from, to) that starts at or after `time`, else `to`. */
  firstStarting(from: number, to: number, time: TraceTime): number {
    return lowerBound(this.start, time, from, to);
  }

  /** The same, faster if the answer is near `from`: looks 1, 2, 4 ... slices ahead first. */
  nextStarting(from: number, to: number, time: TraceTime): number {
    let low = from;
    let jump = 1;
    while (low + jump < to && this.startOf(low + jump) < time) {
      low += jump;
      jump *= 2;
    }
    return this.firstStarting(low, Math.min(low + jump, to), time);
  }

  /** The slices of a lane that are at least partly within [begin, end), as a range. */
  visible(lane: number, begin: TraceTime, end: TraceTime): [number, number] {
    const low = this.lanes[lane] as number;
    const to = this.firstStarting(low, this.lanes[lane + 1] as number, end);
    const from = this.firstStarting(low, to, begin);
    return [from > low && this.endOf(from - 1) > begin ? from - 1 : from, to];
  }

  longestIn(from: number, to: number): number {
    return this.longest.query(from, to);
  }

  /** Count and total of the events called `name` that are at least partly within [begin, end). */
  totals(name: number, begin: TraceTime, end: TraceTime): Totals {
    let count = 0;
    let total = 0;
    for (let lane = 0; lane < this.laneCount; lane++) {
      const [from, to] = this.visible(lane, begin, end);
      for (let i = from; i < to; i++) {
        if (this.nameOf(i) !== name) continue;
        count += this.eventsIn(i);
        total += this.durationOf(i);
      }
    }
    return { count, total };
  }

  highlight(names: Uint8Array): Highlight {
    const sums = new Uint32Array(this.count + 1);
    let sum = 0;
    for (let i = 0; i < this.count; i++) {
      sum += names[this.nameOf(i)] as number;
      sums[i + 1] = sum;
    }
    return { names, sums };
  }

  /**
   * The next slice (`direction` 1) or the previous one (-1) in time whose name matches, over all lanes, or -1. It is
   * searched from `event` on, which starts at `time`; `event` is -1 to search from a time alone. Slices that start
   * together are ordered by lane.
   */
  nextMatch(event: number, time: TraceTime, names: Uint8Array, direction: 1 | -1): number {
    let found = -1;
    for (let i = 0; i < this.count; i++) {
      if (names[this.nameOf(i)] === 0 || this.eventOf(i) === event) continue;
      if (direction * (this.startOf(i) - time || this.eventOf(i) - event) <= 0) continue;
      if (found < 0 || direction * (this.startOf(i) - this.startOf(found) || i - found) < 0) found = i;
    }
    return found;
  }

  /** The how-manyth in time an event is of the slices whose name matches, counted from 1. */
  rank(event: number, time: TraceTime, names: Uint8Array): number {
    let before = 0;
    for (let i = 0; i < this.count; i++) {
      if (names[this.nameOf(i)] && (this.startOf(i) - time || this.eventOf(i) - event) <= 0) before++;
    }
    return before;
  }
}
