import type { Column } from "./columns";

export type Direction = "ascending" | "descending";

/** The rows in which a text column contains `query`, in any case. */
export function matchingRows(columns: readonly Column[], rows: number, query: string): Uint32Array {
  const wanted = query.trim().toLowerCase();
  const all = Uint32Array.from({ length: rows }, (_, row) => row);
  if (!wanted) return all;
  const hits = columns.flatMap((column) =>
    column.texts
      ? [{ values: column.values, match: column.texts.map((t) => t.toLowerCase().includes(wanted)) }]
      : [],
  );
  return all.filter((row) => hits.some(({ values, match }) => match[values[row]]));
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
