import { duration } from "../../lib/format";
import { type CssPx, toPicoseconds } from "../../lib/units";
import type { SelectedRange } from "../range";
import { headPx, type Scene } from "./scene";

const FONT = "600 11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const PAD_PX = 5;

/** Shades the selected range behind the names of the tracks. */
export function paintRangeShade(context: CanvasRenderingContext2D, scene: Scene): void {
  const { range, rows, labelWidth, scrollTop, header } = scene;
  if (!range) return;
  const [left, right] = edges(scene, range);
  context.fillStyle = scene.look.theme.accent;
  context.globalAlpha = 0.1;
  if (!range.tracks) context.fillRect(labelWidth + left, 0, right - left, scene.height);
  for (const row of rows.list) {
    if (row.kind !== "track" || !range.tracks?.has(row.index)) continue;
    context.fillRect(labelWidth + left, headPx(header) + row.top - scrollTop, right - left, row.height);
  }
  context.globalAlpha = 1;
}

/** Draws a line at either end of the selected range, and the time between them. */
export function paintRangeEnds(context: CanvasRenderingContext2D, scene: Scene): void {
  const { range, labelWidth, look, height, viewport, header } = scene;
  if (!range) return;
  context.fillStyle = look.theme.accent;
  for (const time of [range.start, range.end]) {
    const px = viewport.toPx(time);
    if (px >= 0 && px <= viewport.width) context.fillRect(Math.round(labelWidth + px) - 0.5, 0, 1, height);
  }
  const [left, right] = edges(scene, range);
  if (right <= 0 || left >= viewport.width) return;
  context.font = FONT;
  context.textAlign = "center";
  const text = duration(toPicoseconds(range.end - range.start, header.unit_ps));
  const half = context.measureText(text).width / 2 + PAD_PX;
  const middle = Math.min(Math.max((left + right) / 2, half), viewport.width - half);
  const y = headPx(header) - 10;
  context.fillRect(labelWidth + middle - half, y - 8, half * 2, 16);
  context.fillStyle = look.theme.background;
  context.fillText(text, labelWidth + middle, y);
}

function edges({ viewport }: Scene, range: SelectedRange): [CssPx, CssPx] {
  return [Math.max(viewport.toPx(range.start), 0), Math.min(viewport.toPx(range.end), viewport.width)];
}
