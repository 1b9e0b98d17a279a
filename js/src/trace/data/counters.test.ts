import { describe, expect, it } from "vitest";
import { counterValue, extremes, valueAt } from "./counters";

const memory = { name: "memory", unit: "bytes", times_ps: [10, 20, 30], values: [1, 3, 2] };

describe("counters", () => {
  it.each([
    [9, undefined],
    [10, 1],
    [29, 3],
    [1000, 2],
  ])("hold their value until the next one's time (%i)", (ps, value) => {
    expect(valueAt(memory, ps)).toBe(value);
  });

  it("start at zero unless they go below", () => {
    expect(extremes(memory)).toEqual([0, 3]);
    expect(extremes({ ...memory, values: [-4, -2] })).toEqual([-4, 0]);
  });

  it("have units", () => {
    expect(counterValue(3 * 2 ** 20, "bytes")).toBe("3.00 MiB");
    expect(counterValue(42, "%")).toBe("42.0%");
    expect(counterValue(5, "W")).toBe("5.00 W");
  });
});
