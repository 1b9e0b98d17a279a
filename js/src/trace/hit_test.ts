/** What is at a position of the canvas: a time, a row, a lane, a slice, a step. */
import { type CssPx, type TraceTime, toPicoseconds } from "../lib/units";
import type { Step } from "./data/header";
import type { Slices } from "./data/slices";
import { headPx, RULER_PX, type Scene } from "./draw/scene";
import type { Row } from "./rows";
import type { Viewport } from "./viewport";

/** The layout of what is drawn. */
export type Layout = Pick<Scene, "header" | "slices" | "rows" | "viewport" | "labelWidth" | "scrollTop">;

const SLACK_PX = 2;

export function timeAt({ viewport, labelWidth }: Layout, x: CssPx): TraceTime {
  return viewport.toTime(Math.max(x - labelWidth, 0));
}

export function rowAt(layout: Layout, y: CssPx): Row | undefined {
  return y < headPx(layout.header) ? undefined : layout.rows.at(heightInRows(layout, y));
}

/** The distance of a position from the top of all rows. */
export function heightInRows({ header, scrollTop }: Layout, y: CssPx): CssPx {
  return y - headPx(header) + scrollTop;
}

/** The lane at a height, or -1. */
export function laneAt(layout: Layout, y: CssPx): number {
  const row = rowAt(layout, y);
  return row ? layout.rows.laneAt(row, heightInRows(layout, y)) : -1;
}

/** The slice at a position, or -1. */
export function sliceAt(layout: Layout, x: CssPx, y: CssPx): number {
  const lane = x < layout.labelWidth ? -1 : laneAt(layout, y);
  return lane < 0 ? -1 : sliceInLane(layout.slices, layout.viewport, lane, x - layout.labelWidth);
}

/** The slice of a lane at `px` from the left of the plot, or the longest one just beside it, or -1. */
export function sliceInLane(slices: Slices, viewport: Viewport, lane: number, px: CssPx): number {
  const time = viewport.toTime(px);
  const [from, to] = slices.visible(lane, viewport.toTime(px - SLACK_PX), viewport.toTime(px + SLACK_PX));
  if (from === to) return -1;
  const last = slices.firstStarting(from, to, time) - 1;
  return last >= from && slices.endOf(last) > time ? last : slices.longestIn(from, to);
}

/** The step that is drawn at a position of the head. */
export function stepAt({ header, viewport, labelWidth }: Layout, x: CssPx, y: CssPx): Step | undefined {
  if (x < labelWidth || y >= headPx(header) - RULER_PX) return undefined;
  return stepDuring(header.steps, toPicoseconds(viewport.toTime(x - labelWidth), header.unit_ps));
}

export function stepDuring(steps: Step[], ps: number): Step | undefined {
  return steps.find(({ start_ps, duration_ps }) => ps >= start_ps && ps < start_ps + duration_ps);
}
