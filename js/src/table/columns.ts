import { at } from "../lib/at";
import { bytes, duration, flops, grouped, MISSING, percent, significant } from "../lib/format";

/** What a column contains; the same words as `Kind` in tfprof_nb/_units.py. */
export type Kind =
  | "text"
  | "code"
  | "count"
  | "s"
  | "ms"
  | "us"
  | "bytes"
  | "flops"
  | "share"
  | "percent"
  | "number"
  | "flag";

export interface ColumnHeader {
  key: string;
  header: string;
  kind: Kind;
  bar: boolean;
  meaning: string;
  /** Whether gains are written with a plus sign. */
  signed?: boolean;
  /** Whether it is shown only once the menu of columns has it ticked. */
  hidden?: boolean;
  /** The distinct texts of a text column, whose buffer contains indices into them. */
  texts?: string[] | null;
  /** Short forms of the texts, if the texts are so long that they would look the same when cut. */
  short?: string[];
}

/** One column: a header, and a value for each row. */
export interface Column extends ColumnHeader {
  numeric: boolean;
  /** Numbers (NaN if missing), or indices into `texts` (-1 if missing). */
  values: Float64Array;
  /** The value that a full bar stands for. */
  fullBar: number;
}

/** The words for false and true. */
export const FLAGS = ["no", "yes"];

const FORMATTERS: Record<Kind, (value: number) => string> = {
  text: String,
  code: String,
  count: grouped,
  s: (value) => duration(value * 1e12),
  ms: (value) => duration(value * 1e9),
  us: (value) => duration(value * 1e6),
  number: significant,
  bytes,
  flops,
  share: (value) => percent(value * 100),
  percent,
  flag: (value) => at(FLAGS, value ? 1 : 0),
};

export function makeColumn(header: ColumnHeader, buffer: DataView | ArrayBuffer): Column {
  const values = toFloats(buffer);
  const numeric = !header.texts;
  const largest = values.reduce((a, b) => Math.max(a, b || 0), 0);
  // Bars of shares are relative to the whole, all others to the largest value.
  const whole = { share: 1, percent: 100 }[header.kind as string];
  return { ...header, numeric, values, fullBar: Math.max(whole ?? largest, largest) };
}

/** Copies the buffer, because a view into a message need not be aligned. */
export function toFloats(buffer: DataView | ArrayBuffer): Float64Array {
  if (buffer instanceof ArrayBuffer) return new Float64Array(buffer.slice(0));
  const { buffer: whole, byteOffset, byteLength } = buffer;
  return new Float64Array(whole.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

/** The number in a column's row: NaN, or -1 in a text column, if it is missing. */
export function valueAt(column: Column, row: number): number {
  return at(column.values, row);
}

/** The text of a table cell as shown; a dash if the value is missing. */
export function cellText(column: Column, row: number): string {
  const value = valueAt(column, row);
  if (column.texts) return (column.short ?? column.texts)[value] ?? MISSING;
  if (Number.isNaN(value)) return MISSING;
  return `${column.signed && value > 0 ? "+" : ""}${FORMATTERS[column.kind](value)}`;
}

/** The text of a table cell in full, for a tooltip. */
export function fullText(column: Column, row: number): string {
  const value = valueAt(column, row);
  if (column.texts) return column.texts[value] ?? MISSING;
  if (column.kind === "flag" || Number.isNaN(value)) return cellText(column, row);
  const exact = value.toLocaleString("en-US", { maximumFractionDigits: 12 });
  return (
    { bytes: `${exact} bytes`, s: `${exact} s`, ms: `${exact} ms`, us: `${exact} µs` }[
      column.kind as string
    ] ?? exact
  );
}

/** The value of a table cell for a program to read. */
export function rawText(column: Column, row: number): string {
  const value = valueAt(column, row);
  if (column.texts) return column.texts[value] ?? "";
  if (column.kind === "flag" && !Number.isNaN(value)) return value ? "True" : "False";
  return Number.isNaN(value) ? "" : String(value);
}
