import type { Events, Highlight } from "./events";
import type { Header } from "./header";
import type { Ink, Theme } from "./ink";
import type { Rows } from "./rows";
import type { Viewport } from "./viewport";

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
  /** Events, or -1. */
  selected: number;
  hovered: number;
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
  return header.steps.flatMap(({ step, start_ps, duration_ps }, k) => {
    const left = viewport.toPx(start_ps / header.unit_ps);
    const right = viewport.toPx((start_ps + duration_ps) / header.unit_ps);
    return right > 0 && left < viewport.width ? [{ step, odd: k % 2 === 1, left, right }] : [];
  });
}
