import type { CssPx } from "../../lib/units";
import type { Slice } from "../data/slices";
import { LANE_PX } from "../rows";
import { drawCounters } from "./counters";
import { paintFlows } from "./flows";
import type { PlotImage } from "./image";
import { paintRangeEnds, paintRangeShade } from "./range";
import { paintRowLabels } from "./row_labels";
import { paintHead, visibleTicks } from "./ruler";
import { headPx, type Scene, visibleSteps } from "./scene";
import { SliceLabels } from "./slice_labels";
import { type Box, drawSlices } from "./slices";

// Steps narrower than this are not shaded: the stripes would be noise.
const SHADE_FROM_PX = 6;

/** Draws a scene at most once per animation frame: first the plot as pixels, then text and lines over it. */
export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly labels: SliceLabels;
  private image: ImageData | undefined;
  private frame = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scene: Scene,
    private readonly onPainted: () => void,
  ) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser cannot draw on a canvas.");
    this.context = context;
    this.labels = new SliceLabels(context);
  }

  /** Draws the scene again in the next frame. */
  invalidate(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  private paint(): void {
    const { context, scene } = this;
    if (scene.width <= 0 || scene.height <= 0) return;
    const ratio = this.resize();
    const boxes = this.paintPlot(ratio);
    const head = headPx(scene.header);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, head, scene.width, scene.height - head);
    context.clip();
    this.labels.paint(scene, boxes);
    if (scene.hovered >= 0) this.outline(scene.slices.get(scene.hovered), 1);
    if (scene.selection) this.outline(scene.selection, 2);
    paintFlows(context, scene);
    this.paintBand();
    paintRangeShade(context, scene);
    paintRowLabels(context, scene);
    context.restore();
    paintHead(context, scene);
    paintRangeEnds(context, scene);
    this.onPainted();
  }

  /** Fits the canvas to the scene. Returns the number of device pixels per CSS pixel. */
  private resize(): number {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.scene.width * ratio), Math.round(this.scene.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    return ratio;
  }

  private paintPlot(ratio: number): Box[] {
    const { scene } = this;
    const left = Math.round(scene.labelWidth * ratio);
    const top = Math.round(headPx(scene.header) * ratio);
    const width = Math.max(Math.round(scene.viewport.width * ratio), 1);
    const height = Math.max(this.canvas.height - top, 1);
    if (this.image?.width !== width || this.image.height !== height)
      this.image = new ImageData(width, height);
    const image = { pixels: new Uint32Array(this.image.data.buffer), width, height, ratio };
    drawBackground(image, scene);
    const boxes = drawSlices(image, scene);
    drawCounters(image, scene);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(this.image, left, top);
    return boxes;
  }

  private paintBand(): void {
    const { band, look, height } = this.scene;
    if (!band) return;
    this.context.fillStyle = look.theme.accent;
    this.context.globalAlpha = 0.15;
    this.context.fillRect(Math.min(...band), 0, Math.abs(band[1] - band[0]), height);
    this.context.globalAlpha = 1;
  }

  private outline({ lane, start, duration }: Slice, thickness: CssPx): void {
    const { rows, viewport, labelWidth, scrollTop, look, header } = this.scene;
    const top = rows.topOf(lane);
    if (top < 0) return;
    const left = Math.max(viewport.toPx(start), -4);
    const right = Math.min(Math.max(viewport.toPx(start + duration), left + 3), viewport.width + 4);
    if (right < 0 || left > viewport.width) return;
    const y = headPx(header) + top - scrollTop;
    this.context.strokeStyle = look.theme.accent;
    this.context.lineWidth = thickness;
    this.context.strokeRect(labelWidth + left, y + thickness / 2 - 1, right - left, LANE_PX + 1 - thickness);
  }
}

/** Draws every other step and the ruler's grid: one line of pixels, repeated all the way down. */
function drawBackground({ pixels, width, ratio }: PlotImage, scene: Scene): void {
  const { ink } = scene.look;
  pixels.fill(ink.background, 0, width);
  for (const { odd, left, right } of visibleSteps(scene)) {
    if (!odd || right - left < SHADE_FROM_PX) continue;
    const [from, to] = [Math.max(Math.round(left * ratio), 0), Math.min(Math.round(right * ratio), width)];
    pixels.fill(ink.step, from, to);
  }
  for (const { px } of visibleTicks(scene).ticks)
    pixels[Math.min(Math.round(px * ratio), width - 1)] = ink.grid;
  for (let filled = width; filled < pixels.length; filled *= 2) pixels.copyWithin(filled, 0, filled);
}
