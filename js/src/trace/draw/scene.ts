import type { Flow, Header, Step } from "../data/header";
import type { Events, Highlight, Place } from "../data/slices";
import type { Range } from "../range";
import type { Rows } from "../rows";
import type { Viewport } from "../viewport";
import type { Ink, Theme } from "./colors";

export const STEPS_PX = 18;
export const RULER_PX = 20;
/** Room for the scroll bar to the right of the plot. */
export const GUTTER_PX = 8;

/** Everything that a frame shows. Sizes are in CSS pixels. */
export interface Scene {
  header: Header;
  events: Events;
  rows: Rows;
  viewport: Viewport;
  ink: Ink;
  theme: Theme;
  /** Palette index per name. */
  colors: Uint8Array;
  highlight: Highlight | null;
  selection: Place | null;
  /** What the selected event is linked to. */
  flows: Flow[];
  /** A slice, or -1. */
  hovered: number;
  range: Range | null;
  /** The range being dragged, in CSS pixels of the canvas. */
  band: [number, number] | null;
  /** How far the rows are scrolled up. */
  scroll: number;
  width: number;
  height: number;
  /** Width of the column with the tracks' names. */
  labels: number;
}

/** Height of steps and ruler above the rows. */
export function headPx(header: Header): number {
  return RULER_PX + (header.steps.length > 0 ? STEPS_PX : 0);
}

/** A step at least partly in view; its edges are CSS pixels of the plot. */
export interface VisibleStep {
  step: number;
  /** Every other step is shaded. */
  odd: boolean;
  left: number;
  right: number;
}

export function visibleSteps({ header, viewport }: Scene): VisibleStep[] {
  const found: VisibleStep[] = [];
  header.steps.forEach(({ step, start_ps, duration_ps }, k) => {
    const left = viewport.toPx(start_ps / header.unit_ps);
    const right = viewport.toPx((start_ps + duration_ps) / header.unit_ps);
    if (right > 0 && left < viewport.width) found.push({ step, odd: k % 2 === 1, left, right });
  });
  return found;
}

/** The step drawn at a position of the canvas. */
export function stepAt({ header, viewport, labels }: Scene, x: number, y: number): Step | undefined {
  if (x < labels || y >= headPx(header) - RULER_PX) return undefined;
  const time = viewport.toTime(x - labels) * header.unit_ps;
  return header.steps.find(({ start_ps, duration_ps }) => time >= start_ps && time < start_ps + duration_ps);
}
