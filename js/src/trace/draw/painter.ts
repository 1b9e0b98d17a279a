import { grouped } from "../../lib/format";
import type { Place } from "../data/slices";
import { LANE_PX } from "../rows";
import { drawCounter } from "./counters";
import { paintFlows } from "./flows";
import { paintCursors, paintRangeShade } from "./range";
import { paintHead, paintRowLabels, visibleTicks } from "./ruler";
import { headPx, type Scene, visibleSteps } from "./scene";
import { type Brush, drawLane, repeatLine } from "./slices";

const LABEL_FROM_PX = 26;
const LABEL_FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
// Steps narrower than this are not shaded: the stripes would be noise.
const SHADE_FROM_PX = 6;

interface Box {
  event: number;
  left: number;
  right: number;
  top: number;
}

/** Draws scenes: event pixels through an ImageData, then text and lines over them. */
export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private image: ImageData | undefined;
  private readonly textWidths = new Map<number, number>();

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser cannot draw on a canvas.");
    this.context = context;
  }

  paint(scene: Scene): void {
    const ratio = this.resize(scene);
    const boxes = this.paintEvents(scene, ratio);
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, headPx(scene.header), scene.width, scene.height - headPx(scene.header));
    context.clip();
    this.paintBoxLabels(scene, boxes);
    if (scene.hovered >= 0) this.outline(scene, scene.events.placeOf(scene.hovered), 1);
    if (scene.selection) this.outline(scene, scene.selection, 2);
    paintFlows(context, scene);
    this.paintBand(scene);
    paintRangeShade(context, scene);
    paintRowLabels(context, scene);
    context.restore();
    paintHead(context, scene);
    paintCursors(context, scene);
  }

  private resize({ width, height }: Scene): number {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    return ratio;
  }

  private paintEvents(scene: Scene, ratio: number): Box[] {
    const left = Math.round(scene.labels * ratio);
    const top = Math.round(headPx(scene.header) * ratio);
    const width = Math.max(Math.round(scene.viewport.width * ratio), 1);
    const height = Math.max(this.canvas.height - top, 1);
    const { data, pixels } = this.pixels(width, height);
    this.paintBackground(scene, pixels, width, ratio);
    const boxes = this.paintLanes(scene, pixels, width, height, ratio);
    this.paintCounters(scene, pixels, width, height, ratio);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(data, left, top);
    return boxes;
  }

  private pixels(width: number, height: number): { data: ImageData; pixels: Uint32Array } {
    if (this.image?.width !== width || this.image.height !== height)
      this.image = new ImageData(width, height);
    return { data: this.image, pixels: new Uint32Array(this.image.data.buffer) };
  }

  private paintBackground(scene: Scene, pixels: Uint32Array, width: number, ratio: number): void {
    const { ink } = scene;
    pixels.fill(ink.background, 0, width);
    for (const { odd, left, right } of visibleSteps(scene)) {
      if (odd && right - left >= SHADE_FROM_PX) {
        pixels.fill(
          ink.step,
          Math.max(Math.round(left * ratio), 0),
          Math.min(Math.round(right * ratio), width),
        );
      }
    }
    for (const { px } of visibleTicks(scene).ticks)
      pixels[Math.min(Math.round(px * ratio), width - 1)] = ink.grid;
    for (let filled = width; filled < pixels.length; filled *= 2) pixels.copyWithin(filled, 0, filled);
  }

  private paintLanes(scene: Scene, pixels: Uint32Array, width: number, height: number, ratio: number): Box[] {
    const { viewport, events, colors, ink, highlight } = scene;
    const brush: Brush = {
      events,
      begin: viewport.start,
      perPx: viewport.length / width,
      colors,
      ink,
      highlight,
    };
    const boxes: Box[] = [];
    for (const { lane, top } of lanesInSight(scene)) {
      const first = Math.round(top * ratio);
      const from = Math.max(first, 0);
      const to = Math.min(first + Math.round((LANE_PX - 1) * ratio), height);
      if (to <= from) continue;
      drawLane(pixels, from * width, width, lane, brush, (event, left, right) => {
        const visible = Math.min(right, width) - Math.max(left, 0);
        if (visible >= LABEL_FROM_PX * ratio)
          boxes.push({ event, left: left / ratio, right: right / ratio, top });
      });
      repeatLine(pixels, width, from, to - from);
    }
    return boxes;
  }

  private paintCounters(
    scene: Scene,
    pixels: Uint32Array,
    width: number,
    height: number,
    ratio: number,
  ): void {
    const { header, rows, viewport, ink, scroll } = scene;
    const unit = header.unit_ps;
    const perPx = (viewport.length * unit) / width;
    const canvas = { pixels, width, height, begin: viewport.start * unit, perPx, ratio };
    for (const row of rows.list) {
      const counter = row.kind === "counter" ? header.counters?.[row.index] : undefined;
      const top = Math.round((row.top - scroll) * ratio);
      if (counter && top < height && top + row.height * ratio > 0) drawCounter(canvas, top, counter, ink);
    }
  }

  private paintBoxLabels(scene: Scene, boxes: Box[]): void {
    const { context } = this;
    const { events, header, colors, ink, highlight, theme } = scene;
    context.font = LABEL_FONT;
    context.textAlign = "left";
    for (const { event, left, right, top } of boxes) {
      const name = events.name[event];
      const from = Math.max(left, 0) + 4;
      const merged = events.countOf(event);
      const room = Math.min(right, scene.viewport.width) - from - 3;
      const text =
        merged > 1
          ? this.cut(`${grouped(merged)} events`, room)
          : this.fit(name, header.labels?.[name] ?? header.names[name], room);
      if (!text) continue;
      const pale = merged > 1 && events.fillOf(event) < 0.5;
      const plain = pale ? theme.text : ink.text[colors[name]];
      context.fillStyle = highlight && !highlight.names[name] ? theme.muted : plain;
      context.fillText(text, scene.labels + from, headPx(header) + top + LANE_PX / 2);
    }
  }

  /** `text` cut to `width` CSS pixels; proportional to its length, which is close enough for a label. */
  private fit(name: number, text: string, width: number): string {
    let full = this.textWidths.get(name);
    if (full === undefined) {
      full = this.context.measureText(text).width;
      this.textWidths.set(name, full);
    }
    if (full <= width) return text;
    const kept = Math.floor((text.length * width) / full) - 2;
    return kept >= 2 ? `${text.slice(0, kept)}…` : "";
  }

  private cut(text: string, width: number): string {
    return this.context.measureText(text).width <= width ? text : "";
  }

  private paintBand({ band, theme, height }: Scene): void {
    if (!band) return;
    this.context.fillStyle = theme.accent;
    this.context.globalAlpha = 0.15;
    this.context.fillRect(Math.min(...band), 0, Math.abs(band[1] - band[0]), height);
    this.context.globalAlpha = 1;
  }

  private outline(scene: Scene, { lane, start, duration }: Place, thickness: number): void {
    const { rows, viewport, labels, scroll, theme, header } = scene;
    const top = rows.topOf(lane);
    if (top < 0) return;
    const left = Math.max(viewport.toPx(start), -4);
    const right = Math.min(Math.max(viewport.toPx(start + duration), left + 3), viewport.width + 4);
    if (right < 0 || left > viewport.width) return;
    const y = headPx(header) + top - scroll;
    this.context.strokeStyle = theme.accent;
    this.context.lineWidth = thickness;
    this.context.strokeRect(labels + left, y + thickness / 2 - 1, right - left, LANE_PX + 1 - thickness);
  }
}

/** The lanes at least partly in sight, with their tops in CSS pixels below the head. */
function lanesInSight({ rows, scroll, height }: Scene): { lane: number; top: number }[] {
  return rows.list
    .filter((row) => row.top + row.height > scroll && row.top - scroll < height)
    .flatMap((row) =>
      Array.from({ length: row.lanes }, (_, k) => ({
        lane: row.lane + k,
        top: row.top + k * LANE_PX - scroll,
      })),
    );
}
