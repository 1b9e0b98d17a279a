import { describe, expect, it } from "vitest";
import { Longest } from "./longest";

const COUNT = 5000;
const RANGES: [number, number][] = [
  [0, 1],
  [0, COUNT],
  [15, 17],
  [16, 32],
  [17, 300],
  [255, 4097],
  [4096, 4999],
  [4999, COUNT],
];

function of(duration: (slice: number) => number): Longest {
  const sums = new Float64Array(COUNT + 1);
  for (let i = 0, sum = 0; i < COUNT; i++) {
    sum += duration(i);
    sums[i + 1] = sum;
  }
  return new Longest(sums);
}

describe("Longest", () => {
  it.each(RANGES)("finds the longest slice in [%i, %i), wherever it is", (from, to) => {
    const middle = (from + to) >> 1;
    expect(of((i) => i).query(from, to)).toBe(to - 1);
    expect(of((i) => COUNT - i).query(from, to)).toBe(from);
    expect(of((i) => COUNT - Math.abs(i - middle)).query(from, to)).toBe(middle);
  });

  it("takes the first of equals", () => {
    expect(of(() => 1).query(17, 4000)).toBe(17);
  });
});
