/** The header of a trace and what the kernel sends about its events: see docs/trace-format.md. */
import type { Picoseconds } from "../../lib/units";

export interface Group {
  label: string;
  kind: "host" | "device";
}

export interface Track {
  /** Index into the header's groups. */
  group: number;
  label: string;
  kind: "thread" | "stream" | "steps" | "statements" | "python" | "modules" | "scopes" | "ops";
  /** The number of slices at each nesting depth. */
  depths: number[];
  busy_share: number;
  /** Hardly ever busy: folded away at first. */
  idle?: boolean;
}

export interface Step {
  step: number;
  start_ps: Picoseconds;
  duration_ps: Picoseconds;
  /** Whether it traced or compiled: averages exclude it. */
  warm_up?: number;
}

/** A quantity over time. Each value holds until the time of the next. */
export interface Counter {
  name: string;
  unit: string;
  times_ps: Picoseconds[];
  values: number[];
}

export interface Header {
  version: number;
  /** The length of the unit that the payload's times are in. */
  unit_ps: Picoseconds;
  span_ps: Picoseconds;
  /** The number of slices in the payload. */
  events: number;
  /** The number of captured events; without `merged` the same as the number of slices. */
  captured?: number;
  /** Whether a slice can stand for several events. */
  merged?: boolean;
  /** Whether there is no kernel to ask. */
  alone?: boolean;
  /** Events shorter than this are merged. */
  bin_ps?: Picoseconds;
  names: string[];
  /** Texts to write on slices, by index into `names`, where they are shorter than the names. */
  labels?: Record<number, string>;
  /** The number of events of each name, if events are merged. */
  name_events?: number[];
  colors: number[];
  groups: Group[];
  tracks: Track[];
  steps: Step[];
  counters?: Counter[];
}

/** A part of the trace with shorter events merged. */
export interface Tile {
  start_ps: Picoseconds;
  end_ps: Picoseconds;
  /** The number of slices of each lane. */
  lanes: number[];
  /** The number of slices of all lanes. */
  events: number;
}

/** Where one event is drawn. */
export interface EventLocation {
  event: number;
  track: number;
  lane: number;
  start_ps: Picoseconds;
  duration_ps: Picoseconds;
  /** Index into the header's names. */
  name: number;
}

/** A cause of the selected event (`from`), or an effect of it (`to`). */
export interface Flow extends EventLocation {
  direction: "from" | "to";
  kind: string;
}
