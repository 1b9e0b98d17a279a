import { describe, expect, it } from "vitest";
import { duration, middleCut } from "./format";
import cases from "./format.cases.json";

// The table's tests read the rest of these cases, and tests/test_units.py all of them.
describe("duration", () => {
  it.each(cases.duration)("of %s ps is %s", (ps, text) => {
    expect(duration(Number(ps))).toBe(text);
  });
});

describe("middleCut", () => {
  it("keeps both ends", () => {
    expect(middleCut("model/block_1/conv2d/Relu", 15)).toBe("model/b…2d/Relu");
    expect(middleCut("short", 15)).toBe("short");
    expect(middleCut("short", 1)).toBe("");
  });
});
