import { middleCut, percent } from "../../lib/format";
import { type Row, SECTION_PX } from "../rows";
import { niceStep, timeTicks } from "../time_labels";
import { counterValue, extremes } from "./counters";
import { GUTTER_PX, headPx, RULER_PX, type Scene, STEPS_PX, type VisibleStep, visibleSteps } from "./scene";

const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const FONT = `12px ${FAMILY}`;
const BOLD = `600 12px ${FAMILY}`;
const SMALL = `11px ${FAMILY}`;
const TICK_EVERY_PX = 90;
const LABEL_GAP_PX = 6;
const CUT = new Map<string, string>();
const MOST_CUT = 5000;

type Context = CanvasRenderingContext2D;

/** The ticks of the time axis with their CSS pixel in the plot. */
export function visibleTicks({ header, viewport }: Scene): {
  ticks: { px: number; label: string }[];
  anchor: string;
} {
  const unit = header.unit_ps;
  const count = viewport.width / TICK_EVERY_PX;
  const { ticks, anchor } = timeTicks(viewport.start * unit, viewport.end * unit, count);
  return { ticks: ticks.map(({ ps, label }) => ({ px: viewport.toPx(ps / unit), label })), anchor };
}

/** Draws step markers and time ruler above the plot. */
export function paintHead(context: Context, scene: Scene): void {
  const { theme, width, header } = scene;
  const height = headPx(header);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(scene.labels, 0, width - scene.labels, height);
  context.clip();
  if (header.steps.length > 0) paintSteps(context, scene);
  const anchor = paintRuler(context, scene, height - RULER_PX);
  context.restore();
  paintHeadLabels(context, scene, anchor);
  context.fillStyle = theme.line;
  context.fillRect(0, height - 1, width, 1);
  context.fillRect(scene.labels - 1, 0, 1, height);
}

function paintHeadLabels(context: Context, scene: Scene, anchor: string): void {
  const { theme, header, labels } = scene;
  context.font = SMALL;
  context.textAlign = "left";
  context.fillStyle = theme.muted;
  if (header.steps.length > 0) context.fillText("Steps", 8, STEPS_PX / 2);
  context.fillText(anchor ? `${anchor} plus` : "Time", 8, headPx(header) - RULER_PX / 2, labels - 12);
}

function paintSteps(context: Context, scene: Scene): void {
  const { theme, labels, viewport } = scene;
  context.font = SMALL;
  context.textAlign = "center";
  const steps = visibleSteps(scene);
  for (const { odd, left, right } of steps) {
    const from = Math.max(left, 0);
    context.fillStyle = odd ? theme.line : theme.raised;
    context.fillRect(labels + from, 1, Math.max(Math.min(right, viewport.width) - from, 1), STEPS_PX - 3);
  }
  context.fillStyle = theme.text;
  for (const { text, middle } of stepLabels(context, steps, viewport.width)) {
    context.fillText(text, labels + middle, STEPS_PX / 2);
  }
}

/**
 * Labels for the steps that are wide enough and, where they are narrow, for every second, fifth, tenth ... step if that
 * does not run into the label before.
 */
function stepLabels(
  context: Context,
  steps: VisibleStep[],
  width: number,
): { text: string; middle: number }[] {
  const pitch = steps.length > 0 ? (steps[steps.length - 1].right - steps[0].left) / steps.length : 1;
  const digit = context.measureText("0").width;
  const word = context.measureText("step ").width;
  const every = Math.max(niceStep((3 * digit + LABEL_GAP_PX) / pitch), 1);
  const labels: { text: string; middle: number }[] = [];
  let free = 0;
  for (const { step, left, right } of steps) {
    const room = Math.min(right, width) - Math.max(left, 0) - LABEL_GAP_PX;
    const middle = (Math.max(left, 0) + Math.min(right, width)) / 2;
    // All digits are equally wide: measuring thousands of numbers in every frame would be slow.
    const short = String(step).length * digit;
    const long = short + word <= room;
    const half = (long ? short + word : short) / 2;
    if (!(short <= room || step % every === 0) || middle - half < free || middle + half > width) continue;
    labels.push({ text: long ? `step ${step}` : String(step), middle });
    free = middle + half + LABEL_GAP_PX;
  }
  return labels;
}

/** Returns the time that the labels count from, if they do. */
function paintRuler(context: Context, scene: Scene, top: number): string {
  const { theme, labels } = scene;
  const { ticks, anchor } = visibleTicks(scene);
  context.font = SMALL;
  context.textAlign = "left";
  for (const { px, label } of ticks) {
    context.fillStyle = theme.line;
    context.fillRect(Math.round(labels + px), top + 4, 1, RULER_PX - 4);
    context.fillStyle = theme.muted;
    context.fillText(label, labels + px + 4, top + RULER_PX / 2 + 1);
  }
  return anchor;
}

/** Draws the column of track names, the titles of sections, and the scroll bar. */
export function paintRowLabels(context: Context, scene: Scene): void {
  const { theme, rows, scroll, labels, height } = scene;
  const head = headPx(scene.header);
  context.fillStyle = theme.background;
  context.fillRect(0, head, labels, height);
  context.fillRect(scene.width - GUTTER_PX, head, GUTTER_PX, height);
  context.fillStyle = theme.line;
  context.fillRect(labels - 1, head, 1, height);
  context.textAlign = "left";
  for (const row of rows.list) {
    // The label of a track that is higher than the canvas stays in sight.
    const top = head + row.top - scroll;
    if (top + row.height < head || top > height) continue;
    if (row.kind === "section") paintSection(context, scene, row, top);
    else if (row.kind === "counter") paintCounterLabel(context, scene, row, top);
    else
      paintTrackLabel(
        context,
        scene,
        row,
        Math.max(Math.min(Math.max(top, head), top + row.height - 36), top),
      );
  }
  paintScrollBar(context, scene);
}

function paintSection(context: Context, { theme, width }: Scene, row: Row, top: number): void {
  context.fillStyle = theme.raised;
  context.fillRect(0, top, width, SECTION_PX - 3);
  context.fillStyle = theme.text;
  context.font = BOLD;
  context.fillText(marker(row) + row.label, 6, top + (SECTION_PX - 3) / 2);
}

function paintTrackLabel(context: Context, { theme, labels, header }: Scene, row: Row, top: number): void {
  context.font = FONT;
  context.fillStyle = row.kind === "more" ? theme.muted : theme.text;
  context.fillText(cut(context, marker(row) + row.label, labels - 20), 12, top + 9);
  if (row.lanes < 2) return;
  const busy = header.tracks[row.index].busy_share;
  context.font = SMALL;
  context.fillStyle = theme.muted;
  context.fillText(`${percent(busy * 100)} busy`, row.foldable ? 26 : 12, top + 25);
}

function paintCounterLabel(context: Context, scene: Scene, row: Row, top: number): void {
  const counter = scene.header.counters?.[row.index];
  if (!counter) return;
  context.font = FONT;
  context.fillStyle = scene.theme.text;
  context.fillText(cut(context, row.label, scene.labels - 20), 12, top + 11);
  context.font = SMALL;
  context.fillStyle = scene.theme.muted;
  context.fillText(`up to ${counterValue(extremes(counter)[1], counter.unit)}`, 12, top + 27);
}

function marker({ foldable, folded }: Row): string {
  if (!foldable) return "";
  return folded ? "▸ " : "▾ ";
}

/** `text` with its middle cut out as far as needed to be at most `width` wide. */
function cut(context: Context, text: string, width: number): string {
  const key = `${width} ${text}`;
  const known = CUT.get(key);
  if (known !== undefined) return known;
  if (CUT.size > MOST_CUT) CUT.clear();
  let shown = text;
  for (
    let full = context.measureText(shown).width;
    full > width && shown;
    full = context.measureText(shown).width
  ) {
    shown = middleCut(text, Math.min(Math.floor((shown.length * width) / full), shown.length - 1));
  }
  CUT.set(key, shown);
  return shown;
}

function paintScrollBar(context: Context, { rows, scroll, width, height, theme, header }: Scene): void {
  const room = height - headPx(header);
  if (rows.height <= room) return;
  const length = Math.max((room * room) / rows.height, 24);
  const top = headPx(header) + (scroll / (rows.height - room)) * (room - length);
  context.fillStyle = theme.muted;
  context.globalAlpha = 0.6;
  context.fillRect(width - GUTTER_PX + 2, top, GUTTER_PX - 4, length);
  context.globalAlpha = 1;
}
