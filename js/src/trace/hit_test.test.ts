import { describe, expect, it } from "vitest";
import { decodeTrace } from "./data/decode";
import { encode } from "./data/encode.testing";
import { sliceInLane } from "./hit_test";
import { Viewport } from "./viewport";

describe("sliceInLane", () => {
  // 100 pixels for 1000 units: 10 units each. Slices 1 and 2 are a tenth of a pixel.
  const viewport = new Viewport(1000, 10);
  viewport.width = 100;

  it.each([
    [15, 0],
    [25, -1],
    [30.5, 1],
    [31.5, 1],
    [38.5, 3],
    [39.8, 3],
    [45, 3],
    [60, -1],
  ])("at pixel %d finds slice %i", async (px, event) => {
    const { header, payload } = await encode([
      [
        [
          [100, 100, "a"],
          [300, 1, "b"],
          [396, 1, "b"],
          [400, 100, "c"],
        ],
      ],
    ]);
    expect(sliceInLane(await decodeTrace(header, [payload]), viewport, 0, px)).toBe(event);
  });
});
