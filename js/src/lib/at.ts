/** The element at an index that the list must have. */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`There is no element ${index} among ${list.length}.`);
  return item;
}
