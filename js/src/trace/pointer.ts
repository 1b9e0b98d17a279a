/** Mouse, touch pad and touch on the canvas. */
import type { CssPx } from "../lib/units";
import type { Drag } from "./drag";

/** What the pointer does in the trace. Positions are those on the canvas. */
export interface PointerNavigation {
  zoom(factor: number, x: CssPx): void;
  pan(px: CssPx): void;
  /** Returns false if there is nothing further in that direction. */
  scroll(px: CssPx): boolean;
  click(x: CssPx, y: CssPx): void;
}

/** What the pointer does besides. */
export interface PointerCommands {
  /** Both coordinates are -1 when the pointer leaves, and while it drags. */
  hover(x: CssPx, y: CssPx): void;
  startDrag(x: CssPx, y: CssPx, shift: boolean): Drag;
}

const CLICK_SLACK_PX = 4;
const LINE_PX = 16;

export function connectPointer(
  canvas: HTMLCanvasElement,
  navigation: PointerNavigation,
  commands: PointerCommands,
  signal: AbortSignal,
): void {
  connectWheel(canvas, navigation, signal);
  connectButton(canvas, navigation, commands, signal);
}

function connectWheel(canvas: HTMLCanvasElement, navigation: PointerNavigation, signal: AbortSignal): void {
  const onWheel = (event: WheelEvent) => {
    const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [dx, dy] = [event.deltaX * scale, event.deltaY * scale];
    if (event.ctrlKey || event.metaKey) navigation.zoom(wheelZoom(dy), event.offsetX);
    else if (event.shiftKey) navigation.pan(dy || dx);
    else if (Math.abs(dx) > Math.abs(dy)) navigation.pan(dx);
    else if (!navigation.scroll(dy)) return;
    event.preventDefault();
  };
  canvas.addEventListener("wheel", onWheel, { signal, passive: false });
}

/** One notch of a mouse's wheel (about 100) zooms by a half, the small steps of a pinch by a few percent each. */
function wheelZoom(dy: number): number {
  return 2 ** (-Math.max(-50, Math.min(dy, 50)) / 80);
}

function connectButton(
  canvas: HTMLCanvasElement,
  navigation: PointerNavigation,
  commands: PointerCommands,
  signal: AbortSignal,
): void {
  let pressed: { x: CssPx; y: CssPx; drag: Drag; moved: boolean } | null = null;
  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { offsetX: x, offsetY: y } = event;
    pressed = { x, y, drag: commands.startDrag(x, y, event.shiftKey), moved: false };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  };
  const onMove = (event: PointerEvent) => {
    const { offsetX: x, offsetY: y } = event;
    if (!pressed) return commands.hover(x, y);
    pressed.moved ||= Math.hypot(x - pressed.x, y - pressed.y) >= CLICK_SLACK_PX;
    if (!pressed.moved) return;
    commands.hover(-1, -1);
    pressed.drag.to(x, y);
  };
  const onUp = (event: PointerEvent) => {
    if (!pressed) return;
    if (pressed.moved) pressed.drag.end(event.offsetX);
    else navigation.click(event.offsetX, event.offsetY);
    pressed = null;
    commands.hover(event.offsetX, event.offsetY);
  };
  canvas.addEventListener("pointerdown", onDown, { signal });
  canvas.addEventListener("pointermove", onMove, { signal });
  canvas.addEventListener("pointerup", onUp, { signal });
  canvas.addEventListener("pointercancel", () => (pressed = null), { signal });
  canvas.addEventListener("pointerleave", () => commands.hover(-1, -1), { signal });
}
