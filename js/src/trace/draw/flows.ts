import type { Flow } from "../data/header";
import { LANE_PX } from "../rows";
import { headPx, type Scene } from "./scene";

const HEAD_PX = 5;

interface Point {
  x: number;
  y: number;
}

/** Draws an arrow from each cause to its effect, for those of the selected event. */
export function paintFlows(context: CanvasRenderingContext2D, scene: Scene): void {
  const { selection, header, theme } = scene;
  if (!selection || scene.flows.length === 0) return;
  const unit = header.unit_ps;
  const own = { lane: selection.lane, start: selection.start, end: selection.start + selection.duration };
  context.save();
  context.beginPath();
  context.rect(scene.labels, headPx(header), scene.viewport.width, scene.height);
  context.clip();
  context.strokeStyle = context.fillStyle = theme.accent;
  context.lineWidth = 1.2;
  for (const flow of scene.flows) {
    const other = {
      lane: flow.lane,
      start: flow.start_ps / unit,
      end: (flow.start_ps + flow.duration_ps) / unit,
    };
    const [cause, effect] = flow.direction === "from" ? [other, own] : [own, other];
    // A cause often goes on while its effect runs already: the arrow leaves it no later than the effect begins.
    const leaves = Math.max(Math.min(cause.end, effect.start), cause.start);
    paintArrow(context, pointOf(scene, cause.lane, leaves), pointOf(scene, effect.lane, effect.start));
  }
  context.restore();
}

function pointOf({ rows, viewport, labels, scroll, header }: Scene, lane: number, time: number): Point {
  const top = rows.nearTo(lane);
  return { x: labels + viewport.toPx(time), y: headPx(header) + top - scroll + LANE_PX / 2 };
}

function paintArrow(context: CanvasRenderingContext2D, from: Point, to: Point): void {
  const bend = Math.max(Math.min(Math.abs(to.x - from.x) / 2, 80), 12);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - HEAD_PX * 1.6, to.y - HEAD_PX);
  context.lineTo(to.x - HEAD_PX * 1.6, to.y + HEAD_PX);
  context.fill();
}

/** What a link is called, seen from the selected event. */
export function relation({ direction, kind }: Flow): string {
  if (kind === "launch") return direction === "from" ? "Launched by" : "Launches";
  return direction === "from" ? `Caused by (${kind})` : `Causes (${kind})`;
}
