/** The middles of the first and the last mark of a chart, in pixels. */
export interface Span {
  first: number;
  last: number;
}

/**
 * The index of the mark nearest to a pixel; null if that is more than half a mark outside. Marks are at `x` if those are
 * numbers (in ascending order), else evenly spaced.
 */
export function indexAt(span: Span, pixel: number, x: readonly (number | string)[]): number | null {
  if (x.length === 0) return null;
  if (x.length === 1 || span.last === span.first) return 0;
  const place = (index: number) => (typeof x[index] === "number" ? (x[index] as number) : index);
  const first = place(0);
  const last = place(x.length - 1);
  const wanted = first + ((pixel - span.first) / (span.last - span.first)) * (last - first);
  const margin = (last - first) / (x.length - 1) / 2;
  if (wanted < first - margin || wanted > last + margin) return null;
  let nearest = 0;
  for (let k = 1; k < x.length; k++) {
    if (Math.abs(place(k) - wanted) < Math.abs(place(nearest) - wanted)) nearest = k;
  }
  return nearest;
}
