import { describe, expect, it } from "vitest";
import { Longest } from "./longest";

/** Durations 0 to 96 in a scrambled order (53 and 97 share no factor), and their cumulated sums. */
const durations = Array.from({ length: 5000 }, (_, i) => (i * 53) % 97);
const sums = new Float64Array(durations.length + 1);
durations.forEach((duration, i) => {
  sums[i + 1] = sums[i] + duration;
});
const longest = new Longest(sums);

describe("Longest", () => {
  it.each([
    [0, 1],
    [0, 5000],
    [15, 17],
    [16, 32],
    [17, 300],
    [255, 4097],
    [4999, 5000],
  ])("finds the longest event in [%i, %i)", (from, to) => {
    const found = longest.query(from, to);
    expect(found).toBeGreaterThanOrEqual(from);
    expect(found).toBeLessThan(to);
    expect(durations[found]).toBe(Math.max(...durations.slice(from, to)));
  });
});
