import { type CssPx, toTraceTime } from "../../lib/units";
import type { Flow, Header } from "../data/header";
import type { Highlight, Slice, Slices } from "../data/slices";
import type { SelectedRange } from "../range";
import type { Rows } from "../rows";
import type { Viewport } from "../viewport";
import type { Look } from "./colors";

export const STEPS_PX = 18;
export const RULER_PX = 20;
/** Room for the scroll bar to the right of the plot. */
export const GUTTER_PX = 8;

/** Everything that a frame shows. */
export interface Scene {
  readonly header: Header;
  readonly slices: Slices;
  readonly rows: Rows;
  readonly viewport: Viewport;
  readonly look: Look;
  readonly highlight: Highlight | null;
  readonly selection: Slice | null;
  /** What the selected event is linked to. */
  readonly flows: Flow[];
  /** The slice under the pointer, or -1. */
  readonly hovered: number;
  readonly range: SelectedRange | null;
  /** What the zoom tool is being dragged over: two positions on the canvas. */
  readonly band: [CssPx, CssPx] | null;
  /** How far the rows are scrolled. */
  readonly scrollTop: CssPx;
  readonly width: CssPx;
  readonly height: CssPx;
  /** Width of the column with the tracks' names. */
  readonly labelWidth: CssPx;
}

/** Height of the steps and the ruler above the rows. */
export function headPx(header: Header): CssPx {
  return RULER_PX + (header.steps.length > 0 ? STEPS_PX : 0);
}

/** A step that is at least partly visible. Its edges are positions in the plot. */
export interface VisibleStep {
  step: number;
  /** Every other step is shaded. */
  odd: boolean;
  left: CssPx;
  right: CssPx;
}

export function visibleSteps({ header, viewport }: Scene): VisibleStep[] {
  const visible: VisibleStep[] = [];
  header.steps.forEach(({ step, start_ps, duration_ps }, k) => {
    const left = viewport.toPx(toTraceTime(start_ps, header.unit_ps));
    const right = viewport.toPx(toTraceTime(start_ps + duration_ps, header.unit_ps));
    if (right > 0 && left < viewport.width) visible.push({ step, odd: k % 2 === 1, left, right });
  });
  return visible;
}
