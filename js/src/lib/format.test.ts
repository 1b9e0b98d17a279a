import { describe, expect, it } from "vitest";
import { bytes, duration, grouped, middleCut, percent, significant } from "./format";

describe("numbers", () => {
  it.each([
    [0, "0"],
    [0.012345, "0.0123"],
    [1.5, "1.50"],
    [71.24, "71.2"],
    [999.6, "1,000"],
    [1234567, "1,234,567"],
    [-2.5, "-2.50"],
    [1e-7, "1.00e-7"],
    [Number.NaN, "–"],
  ])("significant(%d) is %s", (value, text) => {
    expect(significant(value)).toBe(text);
  });

  it("groups thousands", () => {
    expect(grouped(1234567)).toBe("1,234,567");
  });

  it.each([
    [0, "0%"],
    [0.004, "<0.1%"],
    [71.24, "71.2%"],
    [100, "100%"],
  ])("percent(%d) is %s", (value, text) => {
    expect(percent(value)).toBe(text);
  });

  it.each([
    [0, "0 B"],
    [1023, "1,023 B"],
    [1536, "1.50 KiB"],
    [3 * 2 ** 30, "3.00 GiB"],
    [-2048, "-2.00 KiB"],
  ])("bytes(%d) is %s", (value, text) => {
    expect(bytes(value)).toBe(text);
  });

  it.each([
    [0, "0 s"],
    [800, "800 ps"],
    [71.2e9, "71.2 ms"],
    [2.9e12, "2.90 s"],
    [3600e12, "3,600 s"],
  ])("duration(%d) is %s", (ps, text) => {
    expect(duration(ps)).toBe(text);
  });
});

describe("middleCut", () => {
  it("keeps both ends", () => {
    expect(middleCut("model/block_1/conv2d/Relu", 15)).toBe("model/b…2d/Relu");
    expect(middleCut("short", 15)).toBe("short");
    expect(middleCut("short", 1)).toBe("");
  });
});
