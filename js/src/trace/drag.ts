import type { Tool } from "./ui/toolbar";

/** What a drag does to the viewer. Positions are CSS pixels of the canvas. */
export interface Dragged {
  pan(px: number): void;
  scroll(px: number): boolean;
  /** Shades from one position to another. */
  markBand(from: number, to: number): void;
  /** Shows what was shaded. */
  showBand(from: number, to: number): void;
  /** Selects the time between two positions on the tracks between them. */
  selectArea(fromX: number, fromY: number, toX: number, toY: number): void;
  /** Puts two cursors where the positions are, at the edges of events near by. */
  measure(fromX: number, fromY: number, toX: number, toY: number): void;
  /** The cursor near a position: its time stays where it is while the other is moved. -1 for none near. */
  otherCursor(x: number): number;
  /** The range is final. */
  settleRange(): void;
}

/** One drag of the pointer, from its start on. */
export class Drag {
  private lastX: number;
  private lastY: number;

  constructor(
    private readonly viewer: Dragged,
    private readonly tool: Tool,
    private readonly x: number,
    private readonly y: number,
  ) {
    [this.lastX, this.lastY] = [x, y];
    const other = tool === "timing" ? viewer.otherCursor(x) : -1;
    if (other >= 0) this.x = other;
  }

  to(x: number, y: number): void {
    const { viewer, tool } = this;
    if (tool === "zoom") viewer.markBand(this.x, x);
    else if (tool === "select") viewer.selectArea(this.x, this.y, x, y);
    else if (tool === "timing") viewer.measure(this.x, this.y, x, y);
    else {
      viewer.pan(this.lastX - x);
      viewer.scroll(this.lastY - y);
    }
    [this.lastX, this.lastY] = [x, y];
  }

  end(x: number): void {
    if (this.tool === "zoom") this.viewer.showBand(this.x, x);
    else if (this.tool !== "pan") this.viewer.settleRange();
  }
}
