import { at } from "../lib/at";
import { type Column, FLAGS } from "./columns";

export type Direction = "ascending" | "descending";

/** The rows in which a column of texts, or of yes and no, contains `query`, in any case; if it is `/query/`, those that the expression matches. */
export function matchingRows(columns: readonly Column[], rows: number, query: string): Uint32Array {
  const wanted = query.trim();
  const all = Uint32Array.from({ length: rows }, (_, row) => row);
  if (!wanted) return all;
  const matches = matcher(wanted);
  const hits = columns.flatMap(({ kind, texts, values }) => {
    const shown = kind === "flag" ? FLAGS : texts;
    return shown ? [{ values, match: shown.map(matches) }] : [];
  });
  return all.filter((row) => hits.some(({ values, match }) => match[at(values, row)]));
}

function matcher(wanted: string): (text: string) => boolean {
  const pattern = wanted.match(/^\/(.+)\/$/)?.[1];
  const lower = wanted.toLowerCase();
  if (!pattern) return (text) => text.toLowerCase().includes(lower);
  try {
    const regex = new RegExp(pattern, "i");
    return (text) => regex.test(text);
  } catch {
    return () => false;
  }
}

/** `rows` sorted by one column. Missing values come last in both directions; equal ones keep their order. */
export function sortRows(rows: Uint32Array, column: Column, direction: Direction): Uint32Array {
  const keys = sortKeys(column);
  const sign = direction === "ascending" ? 1 : -1;
  return rows.slice().sort((a, b) => {
    const [x, y] = [keys[a] as number, keys[b] as number];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y);
  });
}

/** A number for each row that sorts as the column does; for texts, their position in the alphabet. */
function sortKeys({ texts, values }: Column): Float64Array {
  if (!texts) return values;
  const { compare } = new Intl.Collator("en", { numeric: true });
  const alphabetical = texts.map((_, index) => index).sort((a, b) => compare(at(texts, a), at(texts, b)));
  const positions = new Float64Array(texts.length);
  alphabetical.forEach((index, position) => {
    positions[index] = position;
  });
  return values.map((index) => (index < 0 ? Number.NaN : at(positions, index)));
}
