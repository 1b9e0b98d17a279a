/** The first index in [from, to) of ascending `values` whose value is at least `least`, else `to`. */
export function lowerBound(
  values: ArrayLike<number>,
  least: number,
  from = 0,
  to: number = values.length,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
