/** The header of a trace, as docs/trace-format.md describes it. */

export interface Group {
  label: string;
  kind: "host" | "device";
}

export interface Track {
  group: number;
  label: string;
  kind: "thread" | "stream" | "steps";
  /** Events at each nesting depth. */
  depths: number[];
  busy_share: number;
}

export interface Step {
  step: number;
  start_ps: number;
  duration_ps: number;
}

export interface Header {
  version: number;
  unit_ps: number;
  span_ps: number;
  events: number;
  names: string[];
  colors: number[];
  groups: Group[];
  tracks: Track[];
  steps: Step[];
  notes: string[];
}
