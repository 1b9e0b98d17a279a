import type { Column } from "./columns";

export type Direction = "ascending" | "descending";

/** The rows in which a text column contains `query`, in any case; of `/query/`, what the regular expression matches. */
export function matchingRows(columns: readonly Column[], rows: number, query: string): Uint32Array {
  const wanted = query.trim();
  const all = Uint32Array.from({ length: rows }, (_, row) => row);
  if (!wanted) return all;
  const matches = matcher(wanted);
  const hits = columns.flatMap((column) =>
    column.texts ? [{ values: column.values, match: column.texts.map(matches) }] : [],
  );
  return all.filter((row) => hits.some(({ values, match }) => match[values[row]]));
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

/** `rows` sorted by one column; rows without a value come last either way, equal ones keep their order. */
export function sortRows(rows: Uint32Array, column: Column, direction: Direction): Uint32Array {
  const rank = sortKeys(column);
  const sign = direction === "ascending" ? 1 : -1;
  return rows.slice().sort((a, b) => {
    const [x, y] = [rank[a], rank[b]];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y);
  });
}

/** A number per row that sorts as the column does; texts by their place in the alphabet. */
function sortKeys({ texts, values }: Column): Float64Array {
  if (!texts) return values;
  const { compare } = new Intl.Collator("en", { numeric: true });
  const alphabetical = texts.map((_, index) => index).sort((a, b) => compare(texts[a], texts[b]));
  const places = new Float64Array(texts.length);
  alphabetical.forEach((index, place) => {
    places[index] = place;
  });
  return values.map((index) => (index < 0 ? Number.NaN : places[index]));
}
