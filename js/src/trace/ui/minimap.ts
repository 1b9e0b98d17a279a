import { debounce, element, OWN_KEYS } from "../../lib/dom";
import { GUTTER_PX } from "../draw/scene";
import { drawLane, repeatLine } from "../draw/slices";
import type { Viewer } from "../state";
import { timeWithin } from "../time_labels";

const HEIGHT_PX = 44;
const PAD_PX = 3;
const MOST_TRACKS = 14;
const EDGE_PX = 6;
const LEAST_WINDOW_PX = 3;
const PAN_SHARE = 0.2;
const ZOOM = 1.4;
const SETTLED_MS = 150;

/** The whole trace in a strip, with the visible part as a window: to drag, to resize at its edges, or to draw anew. */
export class Minimap {
  readonly canvas = element("canvas", {
    ...OWN_KEYS,
    class: "tfp-minimap",
    tabindex: 0,
    role: "scrollbar",
    "aria-orientation": "horizontal",
    "aria-label": "Overview of the whole profile. Arrow keys move the window and zoom.",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  private picture: ImageData | null = null;
  private frame = 0;
  private readonly settled: () => void;

  /** Always draws `viewer`'s first events: a closer look has no picture of the whole. */
  constructor(
    private readonly viewer: Viewer,
    signal: AbortSignal,
    private readonly events = viewer.events,
  ) {
    this.settled = debounce(() => this.tell(), SETTLED_MS, signal);
    this.connect(signal);
    signal.addEventListener("abort", () => cancelAnimationFrame(this.frame));
  }

  /** Draws all anew, after the size or the colours changed. */
  redraw(): void {
    this.picture = null;
    this.follow();
  }

  /** Follows the visible range. */
  follow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  /** The time that the strip covers: from the first event on. */
  private get span(): number {
    return Math.max(this.viewer.viewport.span - this.viewer.firstStart, 1);
  }

  private get width(): number {
    return this.viewer.viewport.width;
  }

  private paint(): void {
    const { canvas, viewer } = this;
    if (!this.picture && !this.prepare()) return;
    const context = canvas.getContext("2d", { alpha: false });
    if (!context || !this.picture) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.picture, 0, 0);
    context.scale(canvas.width / viewer.viewport.width, canvas.width / viewer.viewport.width);
    this.paintWindow(context);
    this.settled();
  }

  /** Draws all but the window, which stays until the next `redraw`; false while there is no room. */
  private prepare(): boolean {
    const { canvas, viewer } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(HEIGHT_PX * ratio)];
    canvas.style.margin = `0 ${GUTTER_PX}px 2px ${viewer.labels}px`;
    canvas.style.width = `${this.width}px`;
    if (width < 2) return false;
    [canvas.width, canvas.height] = [width, height];
    this.picture = this.draw(width, height, ratio);
    return true;
  }

  private draw(width: number, height: number, ratio: number): ImageData {
    const { ink, colors } = this.viewer.look;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(ink.background);
    const lanes = this.lanes();
    const strip = Math.max(Math.floor((height - 2 * PAD_PX * ratio) / Math.max(lanes.length, 1)), 1);
    const perPx = this.span / width;
    const brush = { events: this.events, begin: this.viewer.firstStart, perPx, colors, ink, highlight: null };
    lanes.forEach((lane, k) => {
      const top = Math.round(PAD_PX * ratio) + k * strip;
      if (top + strip > height) return;
      drawLane(pixels, top * width, width, lane, brush);
      repeatLine(pixels, width, top, strip > 2 ? strip - 1 : strip);
    });
    return image;
  }

  /** The outermost lanes of the busiest tracks, in display order. */
  private lanes(): number[] {
    const { header } = this.viewer;
    let lane = 0;
    const tracks = header.tracks.map((track) => {
      const first = lane;
      lane += track.depths.length;
      return { lane: first, busy: track.kind === "steps" ? 0 : track.busy_share };
    });
    const least = tracks.map(({ busy }) => busy).sort((a, b) => b - a)[MOST_TRACKS] ?? 0;
    return tracks.filter(({ busy }) => busy > least).map((track) => track.lane);
  }

  private paintWindow(context: CanvasRenderingContext2D): void {
    const { theme } = this.viewer.look;
    const [left, right] = this.window();
    context.fillStyle = theme.background;
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, left, HEIGHT_PX);
    context.fillRect(right, 0, this.width - right, HEIGHT_PX);
    context.globalAlpha = 1;
    const range = this.viewer.range;
    if (range) {
      context.fillStyle = theme.accent;
      context.globalAlpha = 0.25;
      const [from, to] = [this.toPx(range.start), this.toPx(range.end)];
      context.fillRect(from, 0, Math.max(to - from, 1), HEIGHT_PX);
      context.globalAlpha = 1;
    }
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 1), HEIGHT_PX - 1.5);
  }

  private window(): [number, number] {
    const { start, end } = this.viewer.viewport;
    const [left, right] = [this.toPx(start), this.toPx(end)];
    const missing = Math.max(LEAST_WINDOW_PX - (right - left), 0) / 2;
    return [left - missing, right + missing];
  }

  private toPx(time: number): number {
    return ((time - this.viewer.firstStart) / this.span) * this.width;
  }

  private toTime(px: number): number {
    return this.viewer.firstStart + (px / Math.max(this.width, 1)) * this.span;
  }

  /** Says in words where the window is. */
  private tell(): void {
    const { viewport, header } = this.viewer;
    const [from, to] = [viewport.start, viewport.end].map((t) =>
      timeWithin(t * header.unit_ps, (viewport.length * header.unit_ps) / 1000),
    );
    const room = viewport.span - viewport.length;
    this.canvas.setAttribute(
      "aria-valuenow",
      String(Math.round(room > 0 ? (viewport.start / room) * 100 : 0)),
    );
    this.canvas.setAttribute("aria-valuetext", `${from} to ${to}`);
  }

  private connect(signal: AbortSignal): void {
    const { canvas, viewer } = this;
    let move: ((x: number) => void) | null = null;
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0) return;
      move = this.dragAt(event.offsetX);
      canvas.setPointerCapture(event.pointerId);
    };
    const onMove = (event: PointerEvent) => {
      if (move) move(event.offsetX);
      else canvas.style.cursor = this.cursorAt(event.offsetX);
    };
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      viewer.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, -1);
      event.preventDefault();
    };
    canvas.addEventListener("pointerdown", onDown, { signal });
    canvas.addEventListener("pointermove", onMove, { signal });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => (move = null), { signal });
    canvas.addEventListener("wheel", onWheel, { signal, passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  private key(event: KeyboardEvent): void {
    const { viewer } = this;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => viewer.pan(-PAN_SHARE * this.width),
      ArrowRight: () => viewer.pan(PAN_SHARE * this.width),
      ArrowUp: () => viewer.zoom(ZOOM, -1),
      ArrowDown: () => viewer.zoom(1 / ZOOM, -1),
      Home: () => viewer.show(0, viewer.viewport.length),
      End: () => viewer.show(viewer.viewport.span - viewer.viewport.length, viewer.viewport.span),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }

  /** What dragging from a position does with each later position. */
  private dragAt(x: number): (x: number) => void {
    const { viewport } = this.viewer;
    const { start, end } = viewport;
    const [left, right] = this.window();
    const narrow = right - left < 3 * EDGE_PX;
    if (!narrow && Math.abs(x - left) <= EDGE_PX)
      return (at) => this.viewer.show(...ordered(this.toTime(at), end));
    if (!narrow && Math.abs(x - right) <= EDGE_PX)
      return (at) => this.viewer.show(...ordered(start, this.toTime(at)));
    const all = viewport.length >= this.span;
    if (!all && x >= left - EDGE_PX && x <= right + EDGE_PX) {
      return (at) => {
        const by = this.toTime(at) - this.toTime(x);
        this.viewer.show(start + by, end + by);
      };
    }
    return (at) => {
      if (Math.abs(at - x) >= 2) this.viewer.show(...ordered(this.toTime(x), this.toTime(at)));
    };
  }

  private cursorAt(x: number): string {
    const [left, right] = this.window();
    if (Math.min(Math.abs(x - left), Math.abs(x - right)) <= EDGE_PX) return "ew-resize";
    const all = this.viewer.viewport.length >= this.span;
    return !all && x > left && x < right ? "grab" : "crosshair";
  }
}

function ordered(a: number, b: number): [number, number] {
  return [Math.min(a, b), Math.max(a, b)];
}
