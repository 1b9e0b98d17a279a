import type { CssPx } from "../lib/units";

/** What dragging does. */
export type Tool = "select" | "pan" | "zoom" | "timing";

/** What a drag does to the visible part of the trace. */
export interface DraggedView {
  pan(px: CssPx): void;
  scroll(px: CssPx): boolean;
  markBand(from: CssPx, to: CssPx): void;
  showBand(from: CssPx, to: CssPx): void;
}

/** What a drag does to the selected range. */
export interface DraggedRange {
  selectArea(fromX: CssPx, fromY: CssPx, toX: CssPx, toY: CssPx): void;
  measure(fromX: CssPx, fromY: CssPx, toX: CssPx, toY: CssPx): void;
  otherEnd(x: CssPx): CssPx;
  settle(): void;
}

/** One drag of the pointer. Positions are those on the canvas. */
export class Drag {
  private lastX: CssPx;
  private lastY: CssPx;

  constructor(
    private readonly view: DraggedView,
    private readonly range: DraggedRange,
    private readonly tool: Tool,
    private readonly x: CssPx,
    private readonly y: CssPx,
  ) {
    [this.lastX, this.lastY] = [x, y];
    // Dragging one end of a range leaves the other where it is.
    const other = tool === "timing" ? range.otherEnd(x) : -1;
    if (other >= 0) this.x = other;
  }

  to(x: CssPx, y: CssPx): void {
    const { view, range, tool } = this;
    if (tool === "zoom") view.markBand(this.x, x);
    else if (tool === "select") range.selectArea(this.x, this.y, x, y);
    else if (tool === "timing") range.measure(this.x, this.y, x, y);
    else {
      view.pan(this.lastX - x);
      view.scroll(this.lastY - y);
    }
    [this.lastX, this.lastY] = [x, y];
  }

  end(x: CssPx): void {
    if (this.tool === "zoom") this.view.showBand(this.x, x);
    else if (this.tool !== "pan") this.range.settle();
  }
}
