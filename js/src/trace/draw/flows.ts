import { type CssPx, type TraceTime, toTraceTime } from "../../lib/units";
import { LANE_PX } from "../rows";
import { headPx, type Scene } from "./scene";

const ARROW_HEAD_PX = 5;

interface Point {
  x: CssPx;
  y: CssPx;
}

/** Draws an arrow from each cause of the selected event to it, and from it to each of its effects. */
export function paintFlows(context: CanvasRenderingContext2D, scene: Scene): void {
  const { selection, header, viewport, look, flows } = scene;
  if (!selection || flows.length === 0) return;
  const own = { lane: selection.lane, start: selection.start, end: selection.start + selection.duration };
  context.save();
  context.beginPath();
  context.rect(scene.labelWidth, headPx(header), viewport.width, scene.height);
  context.clip();
  context.strokeStyle = context.fillStyle = look.theme.accent;
  context.lineWidth = 1.2;
  for (const { lane, start_ps, duration_ps, direction } of flows) {
    const start = toTraceTime(start_ps, header.unit_ps);
    const other = { lane, start, end: toTraceTime(start_ps + duration_ps, header.unit_ps) };
    const [cause, effect] = direction === "from" ? [other, own] : [own, other];
    // A cause often continues after its effect has begun: the arrow leaves it no later than that.
    const leaves = Math.max(Math.min(cause.end, effect.start), cause.start);
    paintArrow(context, pointOf(scene, cause.lane, leaves), pointOf(scene, effect.lane, effect.start));
  }
  context.restore();
}

function pointOf(scene: Scene, lane: number, time: TraceTime): Point {
  const top = headPx(scene.header) + scene.rows.nearestTop(lane) - scene.scrollTop;
  return { x: scene.labelWidth + scene.viewport.toPx(time), y: top + LANE_PX / 2 };
}

function paintArrow(context: CanvasRenderingContext2D, from: Point, to: Point): void {
  const bend = Math.max(Math.min(Math.abs(to.x - from.x) / 2, 80), 12);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - ARROW_HEAD_PX * 1.6, to.y - ARROW_HEAD_PX);
  context.lineTo(to.x - ARROW_HEAD_PX * 1.6, to.y + ARROW_HEAD_PX);
  context.fill();
}
