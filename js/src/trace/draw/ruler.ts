import type { CssPx } from "../../lib/units";
import { toPicoseconds, toTraceTime } from "../../lib/units";
import { niceStep, timeAxis } from "../time_labels";
import { headPx, RULER_PX, type Scene, STEPS_PX, type VisibleStep, visibleSteps } from "./scene";

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const TICK_EVERY_PX = 90;
const LABEL_GAP_PX = 6;

type Context = CanvasRenderingContext2D;

/** The ticks of the time axis with their positions in the plot. */
export function visibleTicks({ header, viewport }: Scene): {
  ticks: { px: CssPx; label: string }[];
  anchor: string;
} {
  const unit = header.unit_ps;
  const [start, end] = [toPicoseconds(viewport.start, unit), toPicoseconds(viewport.end, unit)];
  const { ticks, anchor } = timeAxis(start, end, viewport.width / TICK_EVERY_PX);
  return {
    ticks: ticks.map(({ ps, label }) => ({ px: viewport.toPx(toTraceTime(ps, unit)), label })),
    anchor,
  };
}

/** Draws the steps and the time ruler above the plot. */
export function paintHead(context: Context, scene: Scene): void {
  const { width, header, labelWidth } = scene;
  const { theme } = scene.look;
  const height = headPx(header);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(labelWidth, 0, width - labelWidth, height);
  context.clip();
  if (header.steps.length > 0) paintSteps(context, scene);
  const anchor = paintRuler(context, scene, height - RULER_PX);
  context.restore();
  paintTitles(context, scene, anchor);
  context.fillStyle = theme.line;
  context.fillRect(0, height - 1, width, 1);
  context.fillRect(labelWidth - 1, 0, 1, height);
}

function paintTitles(context: Context, { look, header, labelWidth }: Scene, anchor: string): void {
  context.font = FONT;
  context.textAlign = "left";
  context.fillStyle = look.theme.muted;
  if (header.steps.length > 0) context.fillText("Steps", 8, STEPS_PX / 2);
  context.fillText(anchor ? `${anchor} plus` : "Time", 8, headPx(header) - RULER_PX / 2, labelWidth - 12);
}

function paintSteps(context: Context, scene: Scene): void {
  const { labelWidth, viewport } = scene;
  const { theme } = scene.look;
  context.font = FONT;
  context.textAlign = "center";
  const steps = visibleSteps(scene);
  for (const { odd, left, right } of steps) {
    const from = Math.max(left, 0);
    const width = Math.max(Math.min(right, viewport.width) - from, 1);
    context.fillStyle = odd ? theme.line : theme.raised;
    context.fillRect(labelWidth + from, 1, width, STEPS_PX - 3);
  }
  context.fillStyle = theme.text;
  for (const { text, middle } of stepLabels(context, steps, viewport.width))
    context.fillText(text, labelWidth + middle, STEPS_PX / 2);
}

interface StepLabel {
  text: string;
  middle: CssPx;
}

/**
 * Labels for the steps that are wide enough and, where they are narrow, for every second, fifth, tenth ... step, as few
 * as needed for these not to overlap.
 */
export function stepLabels(
  context: Pick<Context, "measureText">,
  steps: VisibleStep[],
  width: CssPx,
): StepLabel[] {
  const digit = context.measureText("0").width;
  const word = context.measureText("step ").width;
  const largest = steps.reduce((most, { step }) => Math.max(most, step), 0);
  let every = 1;
  let found = labelled(steps, width, every, digit, word);
  while (found.overlaps && every <= largest) {
    every = niceStep(every * 1.5);
    found = labelled(steps, width, every, digit, word);
  }
  return found.labels;
}

/** Labels for every so many steps, and for those with room in between; stops where two of the former would overlap. */
function labelled(
  steps: VisibleStep[],
  width: CssPx,
  every: number,
  digit: CssPx,
  word: CssPx,
): { labels: StepLabel[]; overlaps: boolean } {
  const labels: StepLabel[] = [];
  let regular = false;
  let free = 0;
  for (const { step, left, right } of steps) {
    const room = Math.min(right, width) - Math.max(left, 0) - LABEL_GAP_PX;
    const middle = (Math.max(left, 0) + Math.min(right, width)) / 2;
    // All digits are equally wide: measuring thousands of numbers in every frame would be slow.
    const short = String(step).length * digit;
    const long = short + word <= room;
    const half = (long ? short + word : short) / 2;
    const due = step % every === 0;
    if (due && regular && middle - half < free) return { labels, overlaps: true };
    if (!(short <= room || due) || middle - half < free || middle + half > width) continue;
    labels.push({ text: long ? `step ${step}` : String(step), middle });
    free = middle + half + LABEL_GAP_PX;
    regular = due;
  }
  return { labels, overlaps: false };
}

/** Returns the time that the labels count from; empty if they count from the beginning. */
function paintRuler(context: Context, scene: Scene, top: CssPx): string {
  const { labelWidth, look } = scene;
  const { ticks, anchor } = visibleTicks(scene);
  context.font = FONT;
  context.textAlign = "left";
  for (const { px, label } of ticks) {
    context.fillStyle = look.theme.line;
    context.fillRect(Math.round(labelWidth + px), top + 4, 1, RULER_PX - 4);
    context.fillStyle = look.theme.muted;
    const end = px + 4 + context.measureText(label).width;
    if (end <= scene.viewport.width) context.fillText(label, labelWidth + px + 4, top + RULER_PX / 2 + 1);
  }
  return anchor;
}
