import { bytes, grouped, MISSING, percent, significant } from "../lib/format";

/** What a column holds; the same words as `Kind` in tfprof_nb/_units.py. */
export type Kind =
  | "text"
  | "code"
  | "count"
  | "ms"
  | "us"
  | "bytes"
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
  /** The distinct texts of a text column; its buffer then holds indices into them. */
  texts?: string[] | null;
  /** What to show of each text, where they are too long to be told apart when they are cut. */
  short?: string[];
}

/** One column: a header, and a value for each row. */
export interface Column extends ColumnHeader {
  numeric: boolean;
  /** Numbers (NaN where there is none), or indices into `texts` (-1 where there is none). */
  values: Float64Array;
  /** Largest value, which a full bar stands for. */
  most: number;
}

const SHOW: Record<Kind, (value: number) => string> = {
  text: String,
  code: String,
  count: grouped,
  ms: significant,
  us: significant,
  number: significant,
  bytes,
  share: (value) => percent(value * 100),
  percent,
  flag: (value) => (value ? "yes" : "no"),
};

export function makeColumn(header: ColumnHeader, buffer: DataView | ArrayBuffer): Column {
  const values = toFloats(buffer);
  const numeric = !header.texts;
  const most = values.reduce((a, b) => Math.max(a, b || 0), 0);
  // A bar of shares is measured against the whole; all others against the largest.
  const scale = { share: 1, percent: 100 }[header.kind as string];
  return { ...header, numeric, values, most: Math.max(scale ?? most, most) };
}

/** Copies, because a view into a message need not be aligned. */
export function toFloats(buffer: DataView | ArrayBuffer): Float64Array {
  if (buffer instanceof ArrayBuffer) return new Float64Array(buffer.slice(0));
  const { buffer: whole, byteOffset, byteLength } = buffer;
  return new Float64Array(whole.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

/** The text of a cell as shown; a dash where there is no value. */
export function cellText(column: Column, row: number): string {
  const value = column.values[row];
  if (column.texts) return (column.short ?? column.texts)[value] ?? MISSING;
  return Number.isNaN(value) ? MISSING : SHOW[column.kind](value);
}

/** The text of a cell in full, for a tooltip. */
export function fullText(column: Column, row: number): string {
  const value = column.values[row];
  if (column.texts) return column.texts[value] ?? MISSING;
  if (column.kind === "flag" || Number.isNaN(value)) return cellText(column, row);
  const exact = value.toLocaleString("en-US", { maximumFractionDigits: 12 });
  return { bytes: `${exact} bytes`, ms: `${exact} ms`, us: `${exact} µs` }[column.kind as string] ?? exact;
}

/** The value of a cell for a machine to read. */
export function rawText(column: Column, row: number): string {
  const value = column.values[row];
  if (column.texts) return column.texts[value] ?? "";
  if (column.kind === "flag" && !Number.isNaN(value)) return value ? "True" : "False";
  return Number.isNaN(value) ? "" : String(value);
}
