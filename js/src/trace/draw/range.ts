import { duration } from "../../lib/format";
import { headPx, type Scene } from "./scene";

const FONT = "600 11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const PAD_PX = 5;

/** Shades the selected range behind the names of tracks. */
export function paintRangeShade(context: CanvasRenderingContext2D, scene: Scene): void {
  const { range, rows, labels, theme, scroll, header, height } = scene;
  if (!range) return;
  const [left, right] = edges(scene);
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.1;
  if (!range.tracks) context.fillRect(labels + left, 0, right - left, height);
  for (const row of rows.list) {
    if (row.kind !== "track" || !range.tracks?.has(row.index)) continue;
    context.fillRect(labels + left, headPx(header) + row.top - scroll, right - left, row.height);
  }
  context.globalAlpha = 1;
}

/** Draws the two cursors at the ends of the range, and the time between them. */
export function paintCursors(context: CanvasRenderingContext2D, scene: Scene): void {
  const { range, labels, theme, height, viewport, header } = scene;
  if (!range) return;
  context.fillStyle = theme.accent;
  for (const time of [range.start, range.end]) {
    const px = viewport.toPx(time);
    if (px >= 0 && px <= viewport.width) context.fillRect(Math.round(labels + px) - 0.5, 0, 1, height);
  }
  const [left, right] = edges(scene);
  if (right <= 0 || left >= viewport.width) return;
  context.font = FONT;
  context.textAlign = "center";
  const text = duration((range.end - range.start) * header.unit_ps);
  const half = context.measureText(text).width / 2 + PAD_PX;
  const middle = Math.min(Math.max((left + right) / 2, half), viewport.width - half);
  const y = headPx(header) - 10;
  context.fillStyle = theme.accent;
  context.fillRect(labels + middle - half, y - 8, half * 2, 16);
  context.fillStyle = theme.background;
  context.fillText(text, labels + middle, y);
}

function edges({ range, viewport }: Scene): [number, number] {
  const [left, right] = [range?.start ?? 0, range?.end ?? 0].map((time) => viewport.toPx(time));
  return [Math.max(left, 0), Math.min(right, viewport.width)];
}
