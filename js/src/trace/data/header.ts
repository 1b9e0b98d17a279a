/** The header of a trace, as docs/trace-format.md describes it. */

export interface Group {
  label: string;
  kind: "host" | "device";
}

export interface Track {
  group: number;
  label: string;
  kind: "thread" | "stream" | "steps" | "statements" | "python" | "modules" | "scopes" | "ops";
  /** Slices at each nesting depth. */
  depths: number[];
  busy_share: number;
  /** Did hardly anything: folded away at first. */
  idle?: boolean;
}

export interface Step {
  step: number;
  start_ps: number;
  duration_ps: number;
}

/** A quantity over time; each value holds until the next one's time. */
export interface Counter {
  name: string;
  unit: string;
  times_ps: number[];
  values: number[];
}

export interface Header {
  version: number;
  unit_ps: number;
  span_ps: number;
  /** Slices in the payload. */
  events: number;
  /** Events that were captured; without `merged` as many as slices. */
  captured?: number;
  /** Whether slices stand for several events. */
  merged?: boolean;
  /** Nobody answers questions: this is all there is. */
  alone?: boolean;
  /** Shorter events than this are merged. */
  bin_ps?: number;
  names: string[];
  /** What is written on events, where it is shorter than the name. */
  labels?: Record<number, string>;
  /** Events of each name, where they are merged. */
  name_events?: number[];
  colors: number[];
  groups: Group[];
  tracks: Track[];
  steps: Step[];
  counters?: Counter[];
  notes: string[];
}

/** A part of the trace in which shorter events are merged, as the kernel sends it. */
export interface Tile {
  start_ps: number;
  end_ps: number;
  /** Slices of each lane. */
  lanes: number[];
  events: number;
}

/** Where an event is drawn, as the kernel tells it. */
export interface Told {
  event: number;
  track: number;
  lane: number;
  start_ps: number;
  duration_ps: number;
  name: number;
}

/** What caused the selected event (`from`), or what it caused (`to`). */
export interface Flow extends Told {
  direction: "from" | "to";
  kind: string;
}
