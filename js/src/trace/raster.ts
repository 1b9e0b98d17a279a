import type { Events, Highlight } from "./events";
import type { Ink } from "./ink";

// Device pixels from which an event gives up its last one, so that neighbours of one colour stay apart.
const EDGE_FROM_PX = 4;

/** How to draw lanes: the time of the left edge, the time per device pixel, and the colours. */
export interface Brush {
  events: Events;
  begin: number;
  perPx: number;
  /** Palette index per name. */
  colors: Uint8Array;
  ink: Ink;
  highlight: Highlight | null;
}

/** Told of each event drawn as a box of its own: left and right in device pixels, not clipped. */
export type OnBox = (event: number, left: number, right: number) => void;

/**
 * Draws one lane into the pixels `line[at]` to `line[at + width - 1]`.
 *
 * An event at least one pixel wide is a box. All shorter events that start in the same pixel become one pixel in the
 * colour of the longest of them, the fainter the less of the pixel's time they fill, so that idle time stays visible.
 * The work depends on the pixels, not on the number of events.
 */
export function drawLane(
  line: Uint32Array,
  at: number,
  width: number,
  lane: number,
  brush: Brush,
  onBox?: OnBox,
): void {
  const { events, begin, perPx } = brush;
  let [i, to] = events.visible(lane, begin, begin + width * perPx);
  let free = 0;
  while (i < to && free < width) {
    const left = (events.start[i] - begin) / perPx;
    const right = (events.end(i) - begin) / perPx;
    const x = Math.max(Math.floor(left), free);
    if (right - left >= 1) {
      const end = Math.min(Math.max(Math.floor(right), x + 1), width);
      drawBox(line, at + x, at + end, i, brush, right < width);
      onBox?.(i, left, right);
      free = end;
      i += 1;
    } else {
      const next = endOfPixel(i, to, x, brush);
      if (x < width) line[at + x] = pixelOf(i, next, brush);
      free = x + 1;
      i = next;
    }
  }
}

/** The first event after `from` that does not belong into pixel x: it starts later, or is a box itself. */
function endOfPixel(from: number, to: number, x: number, { events, begin, perPx }: Brush): number {
  const next = events.nextStarting(from, to, begin + (x + 1) * perPx);
  return next > from + 1 && events.duration(next - 1) >= perPx ? next - 1 : Math.max(next, from + 1);
}

function drawBox(
  line: Uint32Array,
  from: number,
  to: number,
  event: number,
  brush: Brush,
  edge: boolean,
): void {
  const { events, colors, ink, highlight } = brush;
  const name = events.name[event];
  if (highlight && highlight.names[name] === 0) {
    line.fill(ink.dimmed(colors[name]), from, to);
  } else {
    line.fill(ink.shade(colors[name], 1), from, to);
  }
  if (edge && to - from >= EDGE_FROM_PX) line[to - 1] = ink.background;
}

function pixelOf(from: number, to: number, { events, colors, ink, highlight, perPx }: Brush): number {
  const share = Math.min((events.busy[to] - events.busy[from]) / perPx, 1);
  if (!highlight) return ink.shade(colors[events.name[events.longestOf(from, to)]], share);
  if (highlight.sums[to] === highlight.sums[from]) return ink.dimmed(colors[events.name[from]]);
  return ink.shade(colors[events.name[firstMatch(from, to, highlight.sums)]], 1);
}

function firstMatch(from: number, to: number, sums: Uint32Array): number {
  let low = from;
  let high = to;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (sums[middle] > sums[from]) high = middle;
    else low = middle;
  }
  return low;
}

/** Copies line 0 of a strip of the image to the `height - 1` lines below it. */
export function repeatLine(image: Uint32Array, width: number, top: number, height: number): void {
  const from = top * width;
  for (let y = 1; y < height; y++) image.copyWithin(from + y * width, from, from + width);
}
