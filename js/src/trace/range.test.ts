import { beforeAll, describe, expect, it } from "vitest";
import { decodeTrace } from "./data/decode";
import { encode } from "./data/encode.testing";
import type { Slices } from "./data/slices";
import { snap } from "./range";

let slices: Slices;

beforeAll(async () => {
  const lanes = [
    [[0, 100, "fit"]],
    [
      [10, 40, "MatMul"],
      [60, 20, "MatMul"],
    ],
  ] as Parameters<typeof encode>[0][number];
  const { header, payload } = await encode([lanes]);
  slices = await decodeTrace(header, [payload]);
});

describe("snap", () => {
  it("goes to the nearest edge nearby, else stays", () => {
    expect(snap(slices, 1, 48, 5)).toBe(50);
    expect(snap(slices, 1, 57, 5)).toBe(60);
    expect(snap(slices, 1, 30, 5)).toBe(30);
    expect(snap(slices, -1, 48, 5)).toBe(48);
  });
});
