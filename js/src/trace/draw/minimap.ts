import type { CssPx, TraceTime } from "../../lib/units";
import type { Track } from "../data/header";
import type { Slices } from "../data/slices";
import { repeatLine } from "./image";
import { GUTTER_PX, type Scene } from "./scene";
import { brushFor, drawLane } from "./slices";

const MINIMAP_PX = 44;
const PAD_PX = 3;
const MAX_TRACKS = 14;
const MIN_WINDOW_PX = 3;

/** What the minimap shows. */
export interface MinimapScene extends Pick<Scene, "header" | "viewport" | "look" | "range" | "labelWidth"> {
  /** Where the minimap begins. */
  readonly firstStart: TraceTime;
}

/** The outermost lanes of the busiest tracks, in the order of the tracks; of equally busy ones the first. */
export function busiestLanes(all: readonly Pick<Track, "kind" | "depths" | "busy_share">[]): number[] {
  let lane = 0;
  const tracks = all.map((track) => {
    const first = lane;
    lane += track.depths.length;
    return { lane: first, busy: track.kind === "steps" ? 0 : track.busy_share };
  });
  const busiest = tracks.filter(({ busy }) => busy > 0).sort((a, b) => b.busy - a.busy);
  return busiest
    .slice(0, MAX_TRACKS)
    .map((track) => track.lane)
    .sort((a, b) => a - b);
}

/** Draws the whole trace in a strip, with the visible range as a window, at most once per animation frame. */
export class MinimapPainter {
  private picture: ImageData | null = null;
  private frame = 0;

  /** `slices` are those of the whole trace. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scene: MinimapScene,
    private readonly slices: Slices,
  ) {}

  get width(): CssPx {
    return this.scene.viewport.width;
  }

  /** The time that the strip covers. */
  get span(): TraceTime {
    return Math.max(this.scene.viewport.span - this.scene.firstStart, 1);
  }

  toPx(time: TraceTime): CssPx {
    return ((time - this.scene.firstStart) / this.span) * this.width;
  }

  toTime(px: CssPx): TraceTime {
    return this.scene.firstStart + (px / Math.max(this.width, 1)) * this.span;
  }

  /** The edges of the window. */
  get window(): [CssPx, CssPx] {
    const { start, end } = this.scene.viewport;
    const [left, right] = [this.toPx(start), this.toPx(end)];
    const missing = Math.max(MIN_WINDOW_PX - (right - left), 0) / 2;
    return [left - missing, right + missing];
  }

  /** Draws the trace again, after the size or the colours changed. */
  redraw(): void {
    this.picture = null;
    this.moveWindow();
  }

  /** Draws the window again, after the visible or the selected range changed. */
  moveWindow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  private paint(): void {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    this.picture ??= this.drawTrace(ratio);
    const context = canvas.getContext("2d", { alpha: false });
    if (!context || !this.picture) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.picture, 0, 0);
    context.scale(canvas.width / this.width, canvas.width / this.width);
    this.paintWindow(context);
  }

  /** Fits the canvas to the page and draws all but the window; null while there is no room. */
  private drawTrace(ratio: number): ImageData | null {
    const { canvas, scene } = this;
    const [width, height] = [Math.round(this.width * ratio), Math.round(MINIMAP_PX * ratio)];
    canvas.style.margin = `0 ${GUTTER_PX}px 2px ${scene.labelWidth}px`;
    canvas.style.width = `${this.width}px`;
    if (width < 2) return null;
    [canvas.width, canvas.height] = [width, height];
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(scene.look.ink.background);
    const lanes = this.busiestLanes();
    const strip = Math.max(Math.floor((height - 2 * PAD_PX * ratio) / Math.max(lanes.length, 1)), 1);
    const whole = brushFor(this.slices, scene.firstStart, this.span / width, scene.look, null);
    lanes.forEach((lane, k) => {
      const top = Math.round(PAD_PX * ratio) + k * strip;
      if (top + strip > height) return;
      drawLane(pixels, top * width, width, lane, whole);
      repeatLine(pixels, width, top, strip > 2 ? strip - 1 : strip);
    });
    return image;
  }

  private busiestLanes(): number[] {
    return busiestLanes(this.scene.header.tracks);
  }

  private paintWindow(context: CanvasRenderingContext2D): void {
    const { look, range } = this.scene;
    const [left, right] = this.window;
    context.fillStyle = look.theme.background;
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, left, MINIMAP_PX);
    context.fillRect(right, 0, this.width - right, MINIMAP_PX);
    if (range) {
      const [from, to] = [this.toPx(range.start), this.toPx(range.end)];
      context.fillStyle = look.theme.accent;
      context.globalAlpha = 0.25;
      context.fillRect(from, 0, Math.max(to - from, 1), MINIMAP_PX);
    }
    context.globalAlpha = 1;
    context.strokeStyle = look.theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 1), MINIMAP_PX - 1.5);
  }
}
