/** Numbers as people read them; the same rules as tfprof_nb/_units.py, so that all forms of a view say the same. */

export const MISSING = "–";

const TIME_UNITS: [number, string][] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `value` with three significant figures; digits before the point are all kept, thousands grouped. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4) return value.toExponential(2);
  return size >= 999.5 ? grouped(value) : value.toPrecision(3);
}

/** A whole number with grouped thousands. */
export function grouped(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en-US") : MISSING;
}

/** A percentage (0 to 100) with one decimal; what is not zero never reads as zero. */
export function percent(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value > 0 && value < 0.05) return "<0.1%";
  return value === 0 || value === 100 ? `${value}%` : `${value.toFixed(1)}%`;
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

/** A duration in picoseconds, in the unit that suits it. */
export function duration(ps: number): string {
  if (ps === 0) return "0 s";
  const [scale, unit] = TIME_UNITS.find(([size]) => Math.abs(ps) >= size) ?? [1, "ps"];
  return `${significant(ps / scale)} ${unit}`;
}

/** `text` cut in the middle to at most `length` characters; names of ops differ at both ends. */
export function middleCut(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length < 2) return "";
  const tail = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - tail)}…${text.slice(text.length - tail)}`;
}
