/** Draws the slices as pixels. */
import { lowerBound } from "../../lib/binary_search";
import type { CssPx, TraceTime } from "../../lib/units";
import type { Highlight, Slices } from "../data/slices";
import { LANE_PX } from "../rows";
import type { Ink, Look } from "./colors";
import { type PlotImage, repeatLine } from "./image";
import type { Scene } from "./scene";

// A box of at least so many device pixels has a pale last pixel if another slice follows.
const EDGE_FROM_PX = 4;
const LABEL_FROM_PX = 26;

/** A slice that is wide enough for a label. Positions are those in the plot. */
export interface Box {
  slice: number;
  left: CssPx;
  right: CssPx;
  top: CssPx;
}

/** How lanes are drawn: the time of the left edge, the time per device pixel, and the colours. */
export interface Brush {
  slices: Slices;
  begin: TraceTime;
  perPx: TraceTime;
  /** Palette index of each name. */
  colors: Uint8Array;
  ink: Ink;
  highlight: Highlight | null;
}

export function brushFor(
  slices: Slices,
  begin: TraceTime,
  perPx: TraceTime,
  { colors, ink }: Look,
  highlight: Highlight | null,
): Brush {
  return { slices, begin, perPx, colors, ink, highlight };
}

/** Draws all lanes in view. Returns the slices that have room for a label. */
export function drawSlices(image: PlotImage, scene: Scene): Box[] {
  const { pixels, width, height, ratio } = image;
  const { viewport, slices, look, highlight, rows, scrollTop } = scene;
  const lanes = brushFor(slices, viewport.start, viewport.length / width, look, highlight);
  const boxes: Box[] = [];
  for (const row of rows.list) {
    if (row.top + row.height <= scrollTop || row.top - scrollTop >= scene.height) continue;
    for (let k = 0; k < row.lanes; k++) {
      const top = row.top + k * LANE_PX - scrollTop;
      const first = Math.round(top * ratio);
      const from = Math.max(first, 0);
      const to = Math.min(first + Math.round((LANE_PX - 1) * ratio), height);
      if (to <= from) continue;
      drawLane(pixels, from * width, width, row.lane + k, lanes, (slice, left, right) => {
        const visible = Math.min(right, width) - Math.max(left, 0);
        if (visible >= LABEL_FROM_PX * ratio)
          boxes.push({ slice, left: left / ratio, right: right / ratio, top });
      });
      repeatLine(pixels, width, from, to - from);
    }
  }
  return boxes;
}

/** Called for each slice that is drawn as a box, with its edges in device pixels, not clipped. */
type OnBox = (slice: number, left: number, right: number) => void;

/**
 * Draws one lane into the pixels `line[at]` to `line[at + width - 1]`.
 *
 * A slice at least one pixel wide is a box. All shorter slices that start in the same pixel become one pixel in the
 * colour of the longest, the fainter the less of the pixel's time they fill, so that idle time stays visible. What
 * extends a little into a pixel is faint there, so every pixel in which anything ran shows something. The work depends
 * on the pixels, not on the number of slices.
 */
export function drawLane(
  line: Uint32Array,
  at: number,
  width: number,
  lane: number,
  brush: Brush,
  onBox?: OnBox,
): void {
  const { slices, begin, perPx } = brush;
  let [i, to] = slices.visible(lane, begin, begin + width * perPx);
  let free = 0;
  while (i < to && free < width) {
    const left = (slices.startOf(i) - begin) / perPx;
    const right = (slices.endOf(i) - begin) / perPx;
    let next = i + 1;
    const isBox = right - left >= 1;
    // Short slices may have taken the pixel in which this box begins: it takes it back only if it has no other.
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
    if (next < to && slices.startOf(next) < edge + perPx) {
      // So neighbours of one colour stay apart.
      if (isBox && free - x >= EDGE_FROM_PX) line[at + free - 1] = colorOf(i, 0, brush);
    } else if (slices.endOf(next - 1) > edge) {
      line[at + free] = colorOf(next - 1, Math.min((slices.endOf(next - 1) - edge) / perPx, 1), brush);
      free += 1;
    }
    i = next;
  }
}

/** The first slice after `from` that does not belong into pixel x: it starts later, or is a box itself. */
function endOfPixel(from: number, to: number, x: number, { slices, begin, perPx }: Brush): number {
  const next = slices.nextStarting(from, to, begin + (x + 1) * perPx);
  return next > from + 1 && slices.durationOf(next - 1) >= perPx ? next - 1 : Math.max(next, from + 1);
}

/** The colour of a slice that takes `share` of the time. */
function colorOf(slice: number, share: number, brush: Brush): number {
  const { slices, ink, highlight } = brush;
  const color = paletteIndex(slice, brush);
  if (highlight && highlight.names[slices.nameOf(slice)] === 0) return ink.dimmed(color);
  return ink.shade(color, share * slices.fillOf(slice));
}

/** The colour of a pixel that the slices in [from, to) share. */
function pixelOf(from: number, to: number, brush: Brush): number {
  const { slices, ink, highlight, perPx } = brush;
  if (!highlight) {
    const share = Math.min(slices.busyIn(from, to) / perPx, 1);
    return ink.shade(paletteIndex(slices.longestIn(from, to), brush), share);
  }
  const before = highlight.sums[from] as number;
  if (highlight.sums[to] === before) return ink.dimmed(paletteIndex(from, brush));
  const firstMatch = lowerBound(highlight.sums, before + 1, from + 1, to) - 1;
  return ink.shade(paletteIndex(firstMatch, brush), 1);
}

function paletteIndex(slice: number, { slices, colors }: Brush): number {
  return colors[slices.nameOf(slice)] as number;
}
