import { lowerBound } from "../../lib/binary_search";
import type { Events, Highlight } from "../data/slices";
import type { Ink } from "./colors";

// Device pixels from which a box is paler at its end where another follows.
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
 * What reaches a little into a pixel is faint there, so every pixel in which anything ran shows something. The work
 * depends on the pixels, not on the number of events.
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
    let next = i + 1;
    const isBox = right - left >= 1;
    // Short events may have taken the pixel in which this box begins: it takes it back only if it has no other.
    const x = isBox && right > free ? Math.max(Math.floor(left), free) : Math.floor(left);
    if (isBox) {
      free = Math.min(Math.max(Math.floor(right), x + 1), width);
      line.fill(colorOf(i, 1, brush), at + x, at + free);
      onBox?.(i, left, right);
    } else {
      next = endOfPixel(i, to, Math.max(x, free - 1), brush);
      if (x >= free && x < width) line[at + x] = pixelOf(i, next, brush);
      free = Math.max(x + 1, free);
    }
    if (free >= width) return;
    const edge = begin + free * perPx;
    if (next < to && events.start[next] < edge + perPx) {
      // So neighbours of one colour stay apart.
      if (isBox && free - x >= EDGE_FROM_PX) line[at + free - 1] = colorOf(i, 0, brush);
    } else if (events.end(next - 1) > edge) {
      line[at + free] = colorOf(next - 1, Math.min((events.end(next - 1) - edge) / perPx, 1), brush);
      free += 1;
    }
    i = next;
  }
}

/** The first event after `from` that does not belong into pixel x: it starts later, or is a box itself. */
function endOfPixel(from: number, to: number, x: number, { events, begin, perPx }: Brush): number {
  const next = events.nextStarting(from, to, begin + (x + 1) * perPx);
  return next > from + 1 && events.duration(next - 1) >= perPx ? next - 1 : Math.max(next, from + 1);
}

/** The colour of an event where it takes `share` of the time. */
function colorOf(event: number, share: number, { events, colors, ink, highlight }: Brush): number {
  const name = events.name[event];
  if (highlight && highlight.names[name] === 0) return ink.dimmed(colors[name]);
  return ink.shade(colors[name], share * events.fillOf(event));
}

function pixelOf(from: number, to: number, { events, colors, ink, highlight, perPx }: Brush): number {
  const share = Math.min((events.busy[to] - events.busy[from]) / perPx, 1);
  if (!highlight) return ink.shade(colors[events.name[events.longestOf(from, to)]], share);
  if (highlight.sums[to] === highlight.sums[from]) return ink.dimmed(colors[events.name[from]]);
  const firstMatch = lowerBound(highlight.sums, highlight.sums[from] + 1, from + 1, to) - 1;
  return ink.shade(colors[events.name[firstMatch]], 1);
}

/** Copies line 0 of a strip of the image to the `height - 1` lines below it. */
export function repeatLine(image: Uint32Array, width: number, top: number, height: number): void {
  const from = top * width;
  for (let y = 1; y < height; y++) image.copyWithin(from + y * width, from, from + width);
}
