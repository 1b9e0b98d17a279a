import { lowerBound } from "../../lib/binary_search";
import { bytes, percent, significant } from "../../lib/format";
import type { Counter } from "../data/header";
import { COUNTER_PX } from "../rows";
import type { Ink } from "./colors";

const PAD_PX = 4;

/** A counter's value with its unit. */
export function counterValue(value: number, unit: string): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "%") return percent(value);
  return `${significant(value)} ${unit}`.trim();
}

/** The value that holds at a time, if one is known by then. */
export function valueAt({ times_ps, values }: Counter, ps: number): number | undefined {
  return values[pointsUntil(times_ps, ps) - 1];
}

/** Where to draw: the image's size, and which times (picoseconds) its columns stand for. */
export interface Canvas {
  pixels: Uint32Array;
  width: number;
  height: number;
  begin: number;
  perPx: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

/**
 * Draws a counter into the image, `top` pixels from its top: of each column the smallest to the largest value as a line,
 * and paler what is below, down to zero (or the least value). The work depends on the pixels and on the points in view.
 */
export function drawCounter(canvas: Canvas, top: number, counter: Counter, ink: Ink): void {
  const { width, begin, perPx, ratio } = canvas;
  const { times_ps: times, values } = counter;
  const [least, most] = extremes(counter);
  const bottom = top + Math.round((COUNTER_PX - PAD_PX) * ratio);
  const scale = (Math.round((COUNTER_PX - 2 * PAD_PX) * ratio) - 1) / (most - least || 1);
  let next = pointsUntil(times, begin);
  for (let x = 0; x < width; x++) {
    const end = begin + (x + 1) * perPx;
    if (end <= times[0]) continue;
    let [low, high] = next > 0 ? [values[next - 1], values[next - 1]] : [values[0], values[0]];
    for (; next < times.length && times[next] < end; next++) {
      low = Math.min(low, values[next]);
      high = Math.max(high, values[next]);
    }
    const line = bottom - 1 - Math.round((high - least) * scale);
    const area = Math.max(bottom - Math.round((low - least) * scale), line + Math.ceil(ratio));
    fillColumn(canvas, x, line, area, ink.counter);
    fillColumn(canvas, x, area, bottom, ink.counterArea);
  }
}

function fillColumn(
  { pixels, width, height }: Canvas,
  x: number,
  from: number,
  to: number,
  color: number,
): void {
  for (let y = Math.max(from, 0); y < Math.min(to, height); y++) pixels[y * width + x] = color;
}

/** How many points there are up to a time; their times are whole picoseconds. */
function pointsUntil(times: number[], ps: number): number {
  return lowerBound(times, Math.floor(ps) + 1);
}

/** The range that a counter's row spans: from zero, unless values are negative. */
export function extremes({ values }: Counter): [number, number] {
  const shown = values.filter(Number.isFinite);
  return [Math.min(0, ...shown), Math.max(0, ...shown)];
}
