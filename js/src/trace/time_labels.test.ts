import { describe, expect, it } from "vitest";
import { exactTime, niceStep, timeAxis, timeInView, timeWithin } from "./time_labels";

const labels = (start: number, end: number, count: number) =>
  timeAxis(start, end, count).ticks.map((t) => t.label);

describe("niceStep", () => {
  it.each([
    [1, 1],
    [1.1, 2],
    [3, 5],
    [7, 10],
    [0.02, 0.02],
    [2500, 5000],
  ])("rounds %d up to %d", (least, step) => {
    expect(niceStep(least)).toBeCloseTo(step, 12);
  });
});

describe("timeAxis", () => {
  it("labels whole seconds, halves, and milliseconds", () => {
    expect(labels(0, 3e12, 3)).toEqual(["0 s", "1 s", "2 s", "3 s"]);
    expect(labels(0, 1.2e12, 3)).toEqual(["0.0 s", "0.5 s", "1.0 s"]);
    expect(labels(1e9, 3e9, 2)).toEqual(["1 ms", "2 ms", "3 ms"]);
  });

  it("counts from an anchor where labels would be long", () => {
    // 2 s into a trace, 30 µs wide: steps of 10 µs.
    const { ticks, anchor } = timeAxis(2.000_01e12, 2.000_04e12, 3);
    expect(anchor).toBe("2 s");
    expect(ticks.map((t) => t.label)).toEqual(["+10 µs", "+20 µs", "+30 µs", "+40 µs"]);
  });

  it("never goes below a picosecond", () => {
    expect(labels(0, 3, 100)).toEqual(["0 ps", "1 ps", "2 ps", "3 ps"]);
  });
});

describe("points in time", () => {
  it("are written in full", () => {
    expect([0, 12, 1_234_567, 2_885_779_864_000].map(exactTime)).toEqual([
      "0 s",
      "12 ps",
      "1.234567 µs",
      "2.885779864 s",
    ]);
  });

  it("or with the decimals that matter", () => {
    expect(timeWithin(692_958_303_318, 1e6)).toBe("692.958 ms");
    expect(timeWithin(0, 1e6)).toBe("0 s");
    expect(timeInView(3_145_654_326_000, 8e12)).toBe("3.146 s");
    expect(timeInView(3_145_654_326_000, 30e6)).toBe("3.14565433 s");
  });
});
