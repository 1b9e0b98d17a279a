import { debounce, element } from "../../lib/dom";
import { type CssPx, type TraceTime, toPicoseconds } from "../../lib/units";
import type { Slices } from "../data/slices";
import { MinimapPainter, type MinimapScene } from "../draw/minimap";
import { rangeEnds } from "../time_labels";

const EDGE_PX = 6;
const NARROW_PX = 3 * EDGE_PX;
const MIN_DRAWN_PX = 2;
const PAN_SHARE = 0.2;
const ZOOM = 1.4;
const SETTLED_MS = 150;

/** What the minimap does to the view. */
export interface MinimapActions {
  show(start: TraceTime, end: TraceTime): void;
  pan(px: CssPx): void;
  /** Zooms at a position of the canvas; -1 stands for the middle. */
  zoom(factor: number, x: CssPx): void;
}

/** The strip with the whole trace. Its window is the visible range and can be moved, resized at its edges, or redrawn. */
export class Minimap {
  readonly canvas = element("canvas", {
    class: "tfp-minimap",
    tabindex: 0,
    role: "scrollbar",
    "aria-orientation": "horizontal",
    "aria-label": "Overview of the whole profile. Arrow keys move the window and zoom.",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  private readonly painter: MinimapPainter;
  private readonly settled: () => void;

  /** `slices` are those of the whole trace. */
  constructor(
    private readonly scene: MinimapScene,
    slices: Slices,
    private readonly actions: MinimapActions,
    signal: AbortSignal,
  ) {
    this.painter = new MinimapPainter(this.canvas, scene, slices);
    this.settled = debounce(() => this.describe(), SETTLED_MS, signal);
    this.connectPointer(signal);
    this.canvas.addEventListener("keydown", (event) => this.onKey(event), { signal });
    signal.addEventListener("abort", () => this.painter.stop());
  }

  /** Draws everything again, after the size or the colours changed. */
  redraw(): void {
    this.painter.redraw();
    this.settled();
  }

  /** Follows the visible and the selected range. */
  follow(): void {
    this.painter.moveWindow();
    this.settled();
  }

  /** Tells assistive technology where the window is. */
  private describe(): void {
    const { viewport, header } = this.scene;
    const room = viewport.span - viewport.length;
    const percent = Math.round(room > 0 ? (viewport.start / room) * 100 : 0);
    const [start, end] = [viewport.start, viewport.end];
    const unit = header.unit_ps;
    this.canvas.setAttribute("aria-valuenow", String(percent));
    this.canvas.setAttribute(
      "aria-valuetext",
      rangeEnds(toPicoseconds(start, unit), toPicoseconds(end, unit)),
    );
  }

  private connectPointer(signal: AbortSignal): void {
    const { canvas } = this;
    let drag: ((x: CssPx) => void) | null = null;
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0) return;
      drag = this.dragFrom(event.offsetX);
      canvas.setPointerCapture(event.pointerId);
    };
    const onMove = (event: PointerEvent) => {
      if (drag) drag(event.offsetX);
      else canvas.style.cursor = this.cursorAt(event.offsetX);
    };
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      this.actions.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, -1);
      event.preventDefault();
    };
    canvas.addEventListener("pointerdown", onDown, { signal });
    canvas.addEventListener("pointermove", onMove, { signal });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => (drag = null), { signal });
    canvas.addEventListener("wheel", onWheel, { signal, passive: false });
  }

  private onKey(event: KeyboardEvent): void {
    const { actions } = this;
    const { span, length, width } = this.scene.viewport;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => actions.pan(-PAN_SHARE * width),
      ArrowRight: () => actions.pan(PAN_SHARE * width),
      ArrowUp: () => actions.zoom(ZOOM, -1),
      ArrowDown: () => actions.zoom(1 / ZOOM, -1),
      Home: () => actions.show(0, length),
      End: () => actions.show(span - length, span),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }

  /** What a drag from `x` does at each later position: it resizes the window, moves it, or draws a new one. */
  private dragFrom(x: CssPx): (x: CssPx) => void {
    const { painter } = this;
    const { start, end } = this.scene.viewport;
    const [left, right] = painter.window;
    const narrow = right - left < NARROW_PX;
    if (!narrow && Math.abs(x - left) <= EDGE_PX) return (at) => this.showBetween(painter.toTime(at), end);
    if (!narrow && Math.abs(x - right) <= EDGE_PX) return (at) => this.showBetween(start, painter.toTime(at));
    if (this.canMove && x >= left - EDGE_PX && x <= right + EDGE_PX) {
      return (at) => {
        const moved = painter.toTime(at) - painter.toTime(x);
        this.actions.show(start + moved, end + moved);
      };
    }
    return (at) => {
      if (Math.abs(at - x) >= MIN_DRAWN_PX) this.showBetween(painter.toTime(x), painter.toTime(at));
    };
  }

  private showBetween(a: TraceTime, b: TraceTime): void {
    this.actions.show(Math.min(a, b), Math.max(a, b));
  }

  /** Whether the window is smaller than the strip. */
  private get canMove(): boolean {
    return this.scene.viewport.length < this.painter.span;
  }

  private cursorAt(x: CssPx): string {
    const [left, right] = this.painter.window;
    if (Math.min(Math.abs(x - left), Math.abs(x - right)) <= EDGE_PX) return "ew-resize";
    return this.canMove && x > left && x < right ? "grab" : "crosshair";
  }
}
