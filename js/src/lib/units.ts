/**
 * Units as types: a value in one unit is a compile error where another unit is expected. Plain numbers (literals and
 * results of arithmetic) fit everywhere, so only signatures name units.
 */
declare const unit: unique symbol;
type In<Unit extends string> = number & { readonly [unit]?: Unit };

export type Milliseconds = In<"milliseconds">;
export type Picoseconds = In<"picoseconds">;
/** A time or a duration in the unit of a trace's payload, of which the header says how long it is (`unit_ps`). */
export type TraceTime = In<"units of the trace">;
export type CssPx = In<"CSS pixels">;

export function toPicoseconds(time: TraceTime, unit_ps: Picoseconds): Picoseconds {
  return time * unit_ps;
}

export function toTraceTime(ps: Picoseconds, unit_ps: Picoseconds): TraceTime {
  return ps / unit_ps;
}

export function fromMilliseconds(ms: Milliseconds): Picoseconds {
  return ms * 1e9;
}
