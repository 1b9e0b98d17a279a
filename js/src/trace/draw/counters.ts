import { type Picoseconds, toPicoseconds } from "../../lib/units";
import { extremes, pointsUntil } from "../data/counters";
import type { Counter } from "../data/header";
import { COUNTER_PX } from "../rows";
import type { Ink } from "./colors";
import type { PlotImage } from "./image";
import type { Scene } from "./scene";

const PAD_PX = 4;

/** Draws the counters in view into the image of the plot. */
export function drawCounters(image: PlotImage, scene: Scene): void {
  const { header, rows, viewport, look, scrollTop } = scene;
  const begin = toPicoseconds(viewport.start, header.unit_ps);
  const perPx = toPicoseconds(viewport.length, header.unit_ps) / image.width;
  for (const row of rows.list) {
    const counter = row.kind === "counter" ? header.counters?.[row.index] : undefined;
    const top = Math.round((row.top - scrollTop) * image.ratio);
    if (counter && top < image.height && top + row.height * image.ratio > 0)
      drawCounter(image, top, counter, begin, perPx, look.ink);
  }
}

/**
 * Draws a counter `top` pixels from the image's top: in each column a line from the smallest to the largest value, and
 * a paler area below it down to the scale's lowest value. The work depends on the pixels and the points in view.
 */
function drawCounter(
  image: PlotImage,
  top: number,
  counter: Counter,
  begin: Picoseconds,
  perPx: Picoseconds,
  ink: Ink,
): void {
  const { width, ratio } = image;
  const { times_ps: times, values } = counter;
  const [lowest, highest] = extremes(counter);
  const bottom = top + Math.round((COUNTER_PX - PAD_PX) * ratio);
  const scale = (Math.round((COUNTER_PX - 2 * PAD_PX) * ratio) - 1) / (highest - lowest || 1);
  let next = pointsUntil(times, begin);
  for (let x = 0; x < width; x++) {
    const end = begin + (x + 1) * perPx;
    if (end <= (times[0] as number)) continue;
    let low = values[Math.max(next - 1, 0)] as number;
    let high = low;
    for (; next < times.length && (times[next] as number) < end; next++) {
      const value = values[next] as number;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const line = bottom - 1 - Math.round((high - lowest) * scale);
    const area = Math.max(bottom - Math.round((low - lowest) * scale), line + Math.ceil(ratio));
    fillColumn(image, x, line, area, ink.counter);
    fillColumn(image, x, area, bottom, ink.counterArea);
  }
}

function fillColumn(
  { pixels, width, height }: PlotImage,
  x: number,
  from: number,
  to: number,
  color: number,
): void {
  for (let y = Math.max(from, 0); y < Math.min(to, height); y++) pixels[y * width + x] = color;
}
