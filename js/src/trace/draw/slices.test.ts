import { describe, expect, it } from "vitest";
import { decodeTrace } from "../data/decode";
import { encode, type Written } from "../data/encode.testing";
import { Ink, LIGHT } from "./colors";
import { type Brush, drawLane } from "./slices";

const ink = new Ink(LIGHT);

async function brushFor(lane: Written[], begin: number, perPx: number): Promise<Brush> {
  const { header, payload } = await encode([[lane]]);
  const slices = await decodeTrace(header, [payload]);
  return { slices, begin, perPx, colors: Uint8Array.from(header.colors), ink, highlight: null };
}

/** Draws a lane on a row of 8 pixels with one more on either side, which must stay 0. */
function draw(brush: Brush): number[] {
  const line = new Uint32Array(10);
  drawLane(line, 1, 8, 0, brush);
  expect([line[0], line[9]]).toEqual([0, 0]);
  return [...line.slice(1, 9)];
}

describe("drawLane", () => {
  const a = ink.shade(0, 1);
  const b = ink.shade(1, 1);

  it("draws boxes where their time is", async () => {
    const brush = await brushFor(
      [
        [10, 20, "a"],
        [50, 30, "b"],
      ],
      0,
      10,
    );
    expect(draw(brush)).toEqual([0, a, a, 0, 0, b, b, b]);
  });

  it("cuts boxes at both sides of the view", async () => {
    const brush = await brushFor(
      [
        [0, 120, "a"],
        [170, 500, "b"],
      ],
      100,
      10,
    );
    expect(draw(brush)).toEqual([a, a, 0, 0, 0, 0, 0, b]);
  });

  it("separates equal neighbours by the last pixel of a wide box", async () => {
    const brush = await brushFor(
      [
        [0, 40, "a"],
        [40, 40, "a"],
      ],
      0,
      10,
    );
    expect(draw(brush)).toEqual([a, a, a, ink.shade(0, 0), a, a, a, a]);
  });

  it("merges short slices of a pixel: the colour of the longest, as faint as the pixel is idle", async () => {
    // Pixel 2 is busy for 1 + 4 of 10 units, pixel 3 for 5 of 10; the longest is b, then a.
    const brush = await brushFor(
      [
        [20, 1, "a"],
        [24, 4, "b"],
        [30, 5, "a"],
      ],
      0,
      10,
    );
    expect(draw(brush)).toEqual([0, 0, ink.shade(1, 0.5), ink.shade(0, 0.5), 0, 0, 0, 0]);
    expect(ink.shade(1, 0.5)).not.toBe(b);
  });

  it("shows a slice however short", async () => {
    const brush = await brushFor([[45, 0, "a"]], 0, 10);
    expect(draw(brush)).toEqual([0, 0, 0, 0, ink.shade(0, 0), 0, 0, 0]);
    expect(ink.shade(0, 0)).not.toBe(ink.background);
  });

  it("keeps a box that starts in the pixel of short slices", async () => {
    const brush = await brushFor(
      [
        [10, 2, "a"],
        [15, 35, "b"],
      ],
      0,
      10,
    );
    expect(draw(brush)).toEqual([0, ink.shade(0, 0.2), b, b, b, 0, 0, 0]);
  });

  it("dims what is not highlighted, and shows a single hit among many", async () => {
    const brush = await brushFor(
      [
        [0, 9, "a"],
        [20, 6, "a"],
        [27, 1, "b"],
        [40, 30, "a"],
      ],
      0,
      10,
    );
    brush.highlight = brush.slices.highlight(Uint8Array.of(0, 1));
    const dim = ink.dimmed(0);
    expect(draw(brush)).toEqual([dim, 0, b, 0, dim, dim, dim, 0]);
  });

  it("is faint where a slice extends a little into a pixel, unless another begins there", async () => {
    const brush = await brushFor(
      [
        [0, 25, "a"],
        [36, 8, "b"],
        [55, 7, "a"],
        [63, 2, "b"],
      ],
      0,
      10,
    );
    // Pixel 6 shows b, which begins there, not the rest of a.
    expect(draw(brush)).toEqual([
      a,
      a,
      ink.shade(0, 0.5),
      ink.shade(1, 0.8),
      ink.shade(1, 0.4),
      ink.shade(0, 0.7),
      ink.shade(1, 0.2),
      0,
    ]);
  });

  it("reports every box, and only boxes", async () => {
    const brush = await brushFor(
      [
        [0, 2, "a"],
        [15, 20, "b"],
      ],
      0,
      10,
    );
    const boxes: number[][] = [];
    drawLane(new Uint32Array(8), 0, 8, 0, brush, (...box) => boxes.push(box));
    expect(boxes).toEqual([[1, 1.5, 3.5]]);
  });
});
