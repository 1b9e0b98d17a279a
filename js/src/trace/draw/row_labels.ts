import { at } from "../../lib/at";
import { middleCut, percent } from "../../lib/format";
import type { CssPx } from "../../lib/units";
import { counterValue, extremes } from "../data/counters";
import { type Row, SECTION_PX } from "../rows";
import { GUTTER_PX, headPx, type Scene } from "./scene";

const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const FONT = `12px ${FAMILY}`;
const BOLD = `600 12px ${FAMILY}`;
const SMALL = `11px ${FAMILY}`;
const TRACK_LABEL_PX = 36;
const CUT = new Map<string, string>();
const MAX_CUT = 5000;

type Context = CanvasRenderingContext2D;

/** Draws the column with the names of tracks and counters, the titles of sections, and the scroll bar. */
export function paintRowLabels(context: Context, scene: Scene): void {
  const { rows, scrollTop, labelWidth, width, height } = scene;
  const { theme } = scene.look;
  const head = headPx(scene.header);
  context.fillStyle = theme.background;
  context.fillRect(0, head, labelWidth, height);
  context.fillRect(width - GUTTER_PX, head, GUTTER_PX, height);
  context.fillStyle = theme.line;
  context.fillRect(labelWidth - 1, head, 1, height);
  context.textAlign = "left";
  for (const row of rows.list) {
    const top = head + row.top - scrollTop;
    if (top + row.height < head || top > height) continue;
    if (row.kind === "section") paintSection(context, scene, row, top);
    else if (row.kind === "counter") paintCounterLabel(context, scene, row, top);
    else {
      // The label of a track that is higher than the canvas stays visible.
      const lowest = top + row.height - TRACK_LABEL_PX;
      paintTrackLabel(context, scene, row, Math.max(Math.min(Math.max(top, head), lowest), top));
    }
  }
  paintScrollBar(context, scene);
}

function paintSection(context: Context, { look, width }: Scene, row: Row, top: CssPx): void {
  context.fillStyle = look.theme.raised;
  context.fillRect(0, top, width, SECTION_PX - 3);
  context.fillStyle = look.theme.text;
  context.font = BOLD;
  context.fillText(marker(row) + row.label, 6, top + (SECTION_PX - 3) / 2);
}

function paintTrackLabel(context: Context, scene: Scene, row: Row, top: CssPx): void {
  const { theme } = scene.look;
  context.font = FONT;
  context.fillStyle = row.kind === "more" ? theme.muted : theme.text;
  context.fillText(cut(context, marker(row) + row.label, scene.labelWidth - 20), 12, top + 9);
  if (row.lanes < 2) return;
  const busy = at(scene.header.tracks, row.index).busy_share;
  context.font = SMALL;
  context.fillStyle = theme.muted;
  context.fillText(`${percent(busy * 100)} busy`, row.foldable ? 26 : 12, top + 25);
}

function paintCounterLabel(context: Context, scene: Scene, row: Row, top: CssPx): void {
  const counter = scene.header.counters?.[row.index];
  if (!counter) return;
  context.font = FONT;
  context.fillStyle = scene.look.theme.text;
  context.fillText(cut(context, row.label, scene.labelWidth - 20), 12, top + 11);
  context.font = SMALL;
  context.fillStyle = scene.look.theme.muted;
  context.fillText(`up to ${counterValue(extremes(counter)[1], counter.unit)}`, 12, top + 27);
}

function marker({ foldable, folded }: Row): string {
  if (!foldable) return "";
  return folded ? "▸ " : "▾ ";
}

/** A text with its middle cut out as far as needed to be at most `width` wide. */
function cut(context: Context, text: string, width: CssPx): string {
  const key = `${width} ${text}`;
  const known = CUT.get(key);
  if (known !== undefined) return known;
  if (CUT.size > MAX_CUT) CUT.clear();
  let shown = text;
  let full = context.measureText(shown).width;
  while (full > width && shown) {
    shown = middleCut(text, Math.min(Math.floor((shown.length * width) / full), shown.length - 1));
    full = context.measureText(shown).width;
  }
  CUT.set(key, shown);
  return shown;
}

function paintScrollBar(context: Context, scene: Scene): void {
  const { rows, scrollTop, width, height, header } = scene;
  const room = height - headPx(header);
  if (rows.height <= room) return;
  const length = Math.max((room * room) / rows.height, 24);
  const top = headPx(header) + (scrollTop / (rows.height - room)) * (room - length);
  context.fillStyle = scene.look.theme.muted;
  context.globalAlpha = 0.6;
  context.fillRect(width - GUTTER_PX + 2, top, GUTTER_PX - 4, length);
  context.globalAlpha = 1;
}
