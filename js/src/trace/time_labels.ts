/** Points in time as texts: in full, rounded, and as the labels of a time axis. */
import { at } from "../lib/at";
import { TIME_UNITS } from "../lib/format";
import type { Picoseconds } from "../lib/units";

// From this many ticks on, labels count from an anchor: "2.345 s" and "+10 µs" instead of "2,345,010 µs".
const LONG_LABEL = 10_000;

export interface Tick {
  ps: Picoseconds;
  label: string;
}

export interface TimeAxis {
  ticks: Tick[];
  /** The time that labels with a plus sign count from; empty if they count from the beginning. */
  anchor: string;
}

/** The smallest of 1, 2, 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** The ticks of a time axis with room for about `count` labels. */
export function timeAxis(start: Picoseconds, end: Picoseconds, count: number): TimeAxis {
  const step = Math.max(niceStep((end - start) / Math.max(count, 1)), 1);
  const anchor = start / step >= LONG_LABEL ? floorTo(start, 10 ** Math.ceil(Math.log10(step * 1000))) : 0;
  const ticks = [];
  for (let k = Math.ceil(start / step); k * step <= end; k++) {
    ticks.push({ ps: k * step, label: (anchor ? "+" : "") + tickLabel(k * step - anchor, step) });
  }
  return { ticks, anchor: anchor ? exactTime(anchor) : "" };
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step;
}

/** A time in the largest unit of which one step is at least a tenth. */
function tickLabel(ps: Picoseconds, step: Picoseconds): string {
  const [scale, unit] = TIME_UNITS.find(([size]) => step >= size / 10) ?? [1, "ps"];
  const decimals = step >= scale ? 0 : 1;
  return `${numberFormat(decimals, decimals).format(ps / scale)} ${unit}`;
}

/** A point in time with enough decimals to tell times apart that differ by `precision`. */
export function timeWithin(ps: Picoseconds, precision: Picoseconds): string {
  const [scale, unit] = unitOf(ps);
  const decimals = Math.min(Math.max(Math.ceil(Math.log10(scale / precision)), 0), 12);
  return `${numberFormat(0, decimals).format(ps / scale)} ${unit}`;
}

/** A point in time in full, without rounding. */
export function exactTime(ps: Picoseconds): string {
  return timeWithin(ps, 1);
}

/** A point in time to a thousandth of what is in view around it. */
export function timeInView(ps: Picoseconds, view: Picoseconds): string {
  return timeWithin(ps, view / 1000);
}

/** A range of time as two texts, to a thousandth of its length. */
export function rangeEnds(start: Picoseconds, end: Picoseconds): string {
  return `${timeInView(start, end - start)} to ${timeInView(end, end - start)}`;
}

/** The largest unit of which the time is at least one; seconds for zero. */
function unitOf(ps: Picoseconds): [number, string] {
  return TIME_UNITS.find(([size]) => ps >= size) ?? at(TIME_UNITS, ps === 0 ? 0 : TIME_UNITS.length - 1);
}

const FORMATS = new Map<string, Intl.NumberFormat>();

/** Number formats are slow to make, and every frame needs some. */
function numberFormat(minimum: number, maximum: number): Intl.NumberFormat {
  const key = `${minimum} ${maximum}`;
  const known = FORMATS.get(key);
  if (known) return known;
  const made = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: minimum,
    maximumFractionDigits: maximum,
  });
  FORMATS.set(key, made);
  return made;
}
