/** Values of counters and how they are written. */
import { lowerBound } from "../../lib/binary_search";
import { bytes, percent, significant } from "../../lib/format";
import type { Picoseconds } from "../../lib/units";
import type { Counter } from "./header";

/** A counter's value with its unit. */
export function counterValue(value: number, unit: string): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "%") return percent(value);
  return `${significant(value)} ${unit}`.trim();
}

/** The value at a time; undefined before the first. */
export function valueAt({ times_ps, values }: Counter, ps: Picoseconds): number | undefined {
  return values[pointsUntil(times_ps, ps) - 1];
}

/** How many of the times, which are whole numbers, are not after `ps`. */
export function pointsUntil(times_ps: Picoseconds[], ps: Picoseconds): number {
  return lowerBound(times_ps, Math.floor(ps) + 1);
}

/** The lowest and the highest value of a counter's scale, which includes zero. */
export function extremes({ values }: Counter): [number, number] {
  const finite = values.filter(Number.isFinite);
  return [Math.min(0, ...finite), Math.max(0, ...finite)];
}
