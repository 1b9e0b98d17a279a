import { TIME_UNITS } from "../lib/format";

// From this many tick steps on, labels count from an anchor: "2.345 s" and "+10 µs" instead of "2,345,010 µs".
const LONG_LABEL = 10_000;

export interface Tick {
  ps: number;
  label: string;
}

export interface Ticks {
  ticks: Tick[];
  /** The time that labels with a plus sign count from; empty when they count from the beginning. */
  anchor: string;
}

/** The smallest of 1, 2, 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Ticks of a time axis from `start` to `end` (picoseconds) that leaves room for about `count` labels. */
export function timeTicks(start: number, end: number, count: number): Ticks {
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

/** `ps` in the largest unit in which one step still is at least a tenth. */
function tickLabel(ps: number, step: number): string {
  const [scale, unit] = TIME_UNITS.find(([size]) => step >= size / 10) ?? [1, "ps"];
  const decimals = step >= scale ? 0 : 1;
  return `${formatter(decimals, decimals).format(ps / scale)} ${unit}`;
}

/** A point in time with the decimals that make steps of `precision` (picoseconds) visible. */
export function timeWithin(ps: number, precision: number): string {
  const [scale, unit] = unitOf(ps);
  const decimals = Math.min(Math.max(Math.ceil(Math.log10(scale / precision)), 0), 12);
  return `${formatter(0, decimals).format(ps / scale)} ${unit}`;
}

/** A point in time in full, without rounding. */
export function exactTime(ps: number): string {
  return timeWithin(ps, 1);
}

/** Seconds when there are any, else the unit that fits. */
function unitOf(ps: number): [number, string] {
  return TIME_UNITS.find(([size]) => ps >= size) ?? TIME_UNITS[ps === 0 ? 0 : TIME_UNITS.length - 1];
}

const FORMATTERS = new Map<string, Intl.NumberFormat>();

/** Number formats are slow to make, and every frame needs some. */
function formatter(least: number, most: number): Intl.NumberFormat {
  const key = `${least} ${most}`;
  const known = FORMATTERS.get(key);
  if (known) return known;
  const made = new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: most });
  FORMATTERS.set(key, made);
  return made;
}
