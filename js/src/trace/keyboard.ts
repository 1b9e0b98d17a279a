import { HoverKeys } from "../lib/hover_keys";
import type { Tool } from "./drag";
import type { Navigation } from "./navigation";
import { toolOfKey } from "./ui/toolbar";

/** What keys do besides navigation. */
export interface KeyCommands {
  chooseTool(tool: Tool): void;
  /** Marks the time of the selected event, or the visible range. */
  mark(): void;
  search(): void;
  help(): void;
  escape(): void;
}

/** The keys and gestures that the help explains. */
export const KEYS: [string, string][] = [
  ["1, 2, 3, 4", "what dragging does: select, pan, zoom, timing"],
  ["W / S, Ctrl + wheel", "zoom in, out at the pointer"],
  ["A / D, Shift + wheel", "move left, right"],
  ["Shift + drag", "zoom to the dragged range, whatever the tool"],
  ["Click on a step", "show that step"],
  ["Wheel, Page up / down", "scroll the rows"],
  ["0", "show everything, including the time before and after the steps"],
  ["F", "fit the selected event, or the selected range"],
  ["M", "mark the time of the selected event, or the visible time"],
  ["← / →", "previous, next event of the same name"],
  ["↑ / ↓", "enclosing, enclosed event"],
  ["Enter, Shift + Enter", "fold or unfold the track, the section of the selected event"],
  ["I", "open or close nearly idle tracks and further counters"],
  ["/", "search; Enter and Shift + Enter step through the hits"],
  ["Esc", "close this help; clear the selection, then the range, then the search"],
  ["?", "show or hide this help"],
];

const ZOOM_PER_KEY = 1.4;
const PAN_PER_KEY_PX = 80;
const SCROLL_PER_KEY_PX = 200;

/** Connects the keys, which work while the pointer is on the viewer, or the focus in it. */
export function connectKeyboard(
  root: HTMLElement,
  navigation: Navigation,
  commands: KeyCommands,
  signal: AbortSignal,
): void {
  const actions = actionsOf(navigation, commands);
  const press = (event: KeyboardEvent): boolean => {
    const tool = toolOfKey(event.key);
    const key = event.key === "Enter" && event.shiftKey ? "shift+enter" : event.key.toLowerCase();
    const action = tool ? () => commands.chooseTool(tool) : actions[key];
    action?.();
    return !!action;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter presses the button that has the focus.
    if (event.key === "Enter" && event.target instanceof HTMLButtonElement) return;
    if (!press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", onKey, { signal });
  new HoverKeys(root, press, signal);
}

function actionsOf(navigation: Navigation, commands: KeyCommands): Record<string, () => unknown> {
  return {
    w: () => navigation.zoom(ZOOM_PER_KEY),
    s: () => navigation.zoom(1 / ZOOM_PER_KEY),
    a: () => navigation.pan(-PAN_PER_KEY_PX),
    d: () => navigation.pan(PAN_PER_KEY_PX),
    f: () => navigation.fitSelection(),
    "0": () => navigation.showAll(),
    arrowleft: () => navigation.nextOfName(-1),
    arrowright: () => navigation.nextOfName(1),
    arrowup: () => navigation.nest(-1),
    arrowdown: () => navigation.nest(1),
    enter: () => navigation.fold("track"),
    "shift+enter": () => navigation.fold("section"),
    i: () => navigation.toggleMore(),
    pageup: () => navigation.scroll(-SCROLL_PER_KEY_PX),
    pagedown: () => navigation.scroll(SCROLL_PER_KEY_PX),
    m: () => commands.mark(),
    "/": () => commands.search(),
    "?": () => commands.help(),
    escape: () => commands.escape(),
  };
}
