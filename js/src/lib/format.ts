/** Numbers as people read them; the same rules as tfprof_nb/_units.py, so that all forms of a view say the same. */
import type { Picoseconds } from "./units";

export const MISSING = "–";

/** Units of time, in picoseconds, from the largest. */
export const TIME_UNITS: [Picoseconds, string][] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];
const FLOP_PREFIXES = ["", "k", "M", "G", "T", "P"];
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
// Rounded as in Python: halves to even, and no minus sign before zero.
const EVEN = { roundingMode: "halfEven" } as const;
const WHOLE = new Intl.NumberFormat("en-US", { ...EVEN, maximumFractionDigits: 0, signDisplay: "negative" });
const THREE = new Intl.NumberFormat("en-US", {
  ...EVEN,
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const ONE_DECIMAL = new Intl.NumberFormat("en-US", {
  ...EVEN,
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** Three significant figures, but all digits before the point, with grouped thousands. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  // At least two digits in the exponent, as in Python.
  if (size < 1e-4) return value.toExponential(2).replace(/-(\d)$/, "-0$1");
  return size >= 999.5 ? grouped(value) : THREE.format(exact(value));
}

/** A whole number with grouped thousands. */
export function grouped(value: number): string {
  return Number.isFinite(value) ? WHOLE.format(exact(value)) : MISSING;
}

/** A percentage (0 to 100) with one decimal. Only zero is written as zero. */
export function percent(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value > 0 && value < 0.05) return "<0.1%";
  return value === 0 || value === 100 ? `${value}%` : `${ONE_DECIMAL.format(exact(value))}%`;
}

/** A size in bytes, in binary units. */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  let scaled = value;
  let unit = 0;
  while (Math.abs(scaled) >= 1024 && unit < BYTE_UNITS.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return `${significant(scaled)} ${BYTE_UNITS[unit]}`;
}

/** A number of floating-point operations. */
export function flops(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  let scaled = value;
  let prefix = 0;
  while (Math.abs(scaled) >= 1000 && prefix < FLOP_PREFIXES.length - 1) {
    scaled /= 1000;
    prefix += 1;
  }
  return `${significant(scaled)} ${FLOP_PREFIXES[prefix]}FLOP`;
}

/** A duration in the largest unit of which it is at least one. */
export function duration(ps: Picoseconds): string {
  if (!Number.isFinite(ps)) return MISSING;
  // As it is written: 999.6 µs are 1.00 ms.
  const found = TIME_UNITS.find(([size]) => Number((Math.abs(ps) / size).toPrecision(3)) >= 1);
  return found ? `${significant(ps / found[0])} ${found[1]}` : "0 s";
}

/** All decimals of a number of at least 0.0001: `Intl` would round its shortest form, 0.15 for a number slightly less. */
function exact(value: number): Intl.StringNumericLiteral | bigint {
  return Math.abs(value) < 1e21 ? (value.toFixed(70) as Intl.StringNumericLiteral) : BigInt(value);
}

/** A text cut in the middle to at most `length` characters: names of ops differ at both ends. */
export function middleCut(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length < 2) return "";
  const tail = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - tail)}…${text.slice(text.length - tail)}`;
}
