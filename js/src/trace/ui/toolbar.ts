import { button, element } from "../../lib/dom";
import type { Tool } from "../drag";

const TOOLS: [Tool, string, string][] = [
  ["select", "Select", "Select: drag over tracks to see what ran there (1)"],
  ["pan", "Pan", "Pan: drag to move (2)"],
  ["zoom", "Zoom", "Zoom: drag over the time to see closer (3)"],
  ["timing", "Timing", "Timing: drag from one event's edge to another to measure the time between (4)"],
];
export const CURSORS: Record<Tool, string> = {
  select: "crosshair",
  pan: "grab",
  zoom: "zoom-in",
  timing: "ew-resize",
};

/** The tool that a key chooses. */
export function toolOfKey(key: string): Tool | undefined {
  return TOOLS[Number(key) - 1]?.[0];
}

/** The buttons for the tools, of which one is pressed. */
export class Toolbar {
  readonly root: HTMLElement;
  private readonly buttons: Map<Tool, HTMLButtonElement>;

  constructor(onChoose: (tool: Tool) => void) {
    this.buttons = new Map(
      TOOLS.map(([tool, text, label]) => [tool, button(text, label, () => onChoose(tool))]),
    );
    const attributes = { class: "tfp-tools", role: "group", "aria-label": "What dragging does" };
    this.root = element("div", attributes, ...this.buttons.values());
  }

  show(chosen: Tool): void {
    for (const [tool, node] of this.buttons) node.setAttribute("aria-pressed", String(tool === chosen));
  }
}
