import { Drag, type Dragged } from "./drag";
import { type Tool, toolOfKey } from "./ui/toolbar";

/** What the user can do with the canvas. Positions are CSS pixels from the canvas' top left corner. */
export interface Actions extends Dragged {
  readonly tool: Tool;
  zoom(factor: number, x?: number): void;
  /** Scrolls the rows; false when there is nothing further in that direction. */
  scroll(px: number): boolean;
  chooseTool(tool: Tool): void;
  showAll(): void;
  fitSelection(): void;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  /** Marks the selected event's time, or what is visible; takes the same mark away again. */
  mark(): void;
  nextOfName(direction: 1 | -1): void;
  nest(direction: 1 | -1): void;
  /** Folds or unfolds the track of the selected event, or its section. */
  fold(kind: "track" | "section"): void;
  /** Opens what is folded away at first, idle tracks above all, or closes it. */
  unfoldIdle(): void;
  search(): void;
  help(): void;
  escape(): void;
}

export const KEYS: [string, string][] = [
  ["1, 2, 3, 4", "select, pan, zoom, timing: what dragging does"],
  ["W / S, Ctrl + wheel", "zoom in, out at the pointer"],
  ["A / D, Shift + wheel", "move left, right"],
  ["Shift + drag", "zoom to the dragged range, whatever the tool"],
  ["Click on a step", "show that step"],
  ["Wheel, Page up / down", "scroll the rows"],
  ["0", "show everything"],
  ["F", "fit the selected event, or the selected range"],
  ["M", "mark the time of the selected event, or what is visible"],
  ["← / →", "previous, next event of the same name"],
  ["↑ / ↓", "enclosing, enclosed event"],
  ["Enter, Shift + Enter", "fold or unfold the track, the section of the selected event"],
  ["I", "open or close nearly idle tracks and further counters"],
  ["/", "search; Enter and Shift + Enter step through the hits"],
  ["Esc", "clear the selection, then the range, then the search"],
  ["?", "show or hide this help"],
];

const ZOOM_PER_KEY = 1.4;
const PAN_PER_KEY_PX = 80;
const SCROLL_PER_KEY_PX = 200;
const CLICK_SLACK_PX = 4;
const LINE_PX = 16;

/** Connects mouse, touch and keyboard to `actions`; keys only while the canvas has the focus. */
export function connect(canvas: HTMLCanvasElement, actions: Actions, signal: AbortSignal): void {
  connectWheel(canvas, actions, signal);
  connectPointer(canvas, actions, signal);
  connectKeys(canvas, actions, signal);
}

function connectWheel(canvas: HTMLCanvasElement, actions: Actions, signal: AbortSignal): void {
  const onWheel = (event: WheelEvent) => {
    const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [dx, dy] = [event.deltaX * scale, event.deltaY * scale];
    if (event.ctrlKey || event.metaKey) actions.zoom(wheelZoom(dy), event.offsetX);
    else if (event.shiftKey) actions.pan(dy || dx);
    else if (Math.abs(dx) > Math.abs(dy)) actions.pan(dx);
    else if (!actions.scroll(dy)) return;
    event.preventDefault();
  };
  canvas.addEventListener("wheel", onWheel, { signal, passive: false });
}

/** A mouse's notch (100 or so) zooms by a half, the small steps of a pinch on a touch pad by a few percent each. */
function wheelZoom(dy: number): number {
  return 2 ** (-Math.max(-50, Math.min(dy, 50)) / 80);
}

function connectPointer(canvas: HTMLCanvasElement, actions: Actions, signal: AbortSignal): void {
  let drag: { x: number; y: number; by: Drag; moved: boolean } | null = null;
  const onMove = (event: PointerEvent) => {
    const { offsetX: x, offsetY: y } = event;
    if (!drag) return actions.hover(x, y);
    drag.moved ||= Math.hypot(x - drag.x, y - drag.y) >= CLICK_SLACK_PX;
    if (drag.moved) drag.by.to(x, y);
  };
  const onUp = (event: PointerEvent) => {
    if (!drag) return;
    if (drag.moved) drag.by.end(event.offsetX);
    else actions.click(event.offsetX, event.offsetY);
    drag = null;
  };
  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { offsetX: x, offsetY: y } = event;
    drag = { x, y, by: new Drag(actions, event.shiftKey ? "zoom" : actions.tool, x, y), moved: false };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  };
  canvas.addEventListener("pointermove", onMove, { signal });
  canvas.addEventListener("pointerdown", onDown, { signal });
  canvas.addEventListener("pointerup", onUp, { signal });
  canvas.addEventListener("pointercancel", () => (drag = null), { signal });
  canvas.addEventListener("pointerleave", () => actions.leave(), { signal });
}

function connectKeys(canvas: HTMLCanvasElement, actions: Actions, signal: AbortSignal): void {
  const keys: Record<string, () => unknown> = {
    w: () => actions.zoom(ZOOM_PER_KEY),
    s: () => actions.zoom(1 / ZOOM_PER_KEY),
    a: () => actions.pan(-PAN_PER_KEY_PX),
    d: () => actions.pan(PAN_PER_KEY_PX),
    f: () => actions.fitSelection(),
    m: () => actions.mark(),
    "0": () => actions.showAll(),
    "/": () => actions.search(),
    "?": () => actions.help(),
    escape: () => actions.escape(),
    arrowleft: () => actions.nextOfName(-1),
    arrowright: () => actions.nextOfName(1),
    arrowup: () => actions.nest(-1),
    arrowdown: () => actions.nest(1),
    enter: () => actions.fold("track"),
    "shift+enter": () => actions.fold("section"),
    i: () => actions.unfoldIdle(),
    pageup: () => actions.scroll(-SCROLL_PER_KEY_PX),
    pagedown: () => actions.scroll(SCROLL_PER_KEY_PX),
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tool = toolOfKey(event.key);
    const key = event.key === "Enter" && event.shiftKey ? "shift+enter" : event.key.toLowerCase();
    const action = tool ? () => actions.chooseTool(tool) : keys[key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  };
  canvas.addEventListener("keydown", onKey, { signal });
}
