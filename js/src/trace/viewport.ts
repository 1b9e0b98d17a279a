import type { CssPx, TraceTime } from "../lib/units";

/** The visible part of the time axis: from `start` to `end`, drawn `width` pixels wide. */
export class Viewport {
  start: TraceTime = 0;
  end: TraceTime;
  width: CssPx = 1;

  /** `span` is the length of the trace, of which at least `shortest` is always visible. */
  constructor(
    readonly span: TraceTime,
    readonly shortest: TraceTime,
  ) {
    this.end = span;
  }

  get length(): TraceTime {
    return this.end - this.start;
  }

  get timePerPx(): number {
    return this.length / this.width;
  }

  toPx(time: TraceTime): CssPx {
    return ((time - this.start) / this.length) * this.width;
  }

  toTime(px: CssPx): TraceTime {
    return this.start + (px / this.width) * this.length;
  }

  /** Shows [start, end), moved and stretched as far as needed to stay within the trace. */
  show(start: TraceTime, end: TraceTime): void {
    const length = this.allowed(end - start);
    const from = (start + end - length) / 2;
    this.start = Math.min(Math.max(from, 0), this.span - length);
    this.end = this.start + length;
  }

  /** Zooms by `factor` (above 1: closer) so that the time at `px` stays where it is. */
  zoom(factor: number, px: CssPx): void {
    const time = this.toTime(px);
    const length = this.allowed(this.length / factor);
    const start = time - (px / this.width) * length;
    this.show(start, start + length);
  }

  pan(px: CssPx): void {
    const time = (px / this.width) * this.length;
    this.show(this.start + time, this.end + time);
  }

  /** Moves, without zooming, so that at least a part of [start, end) is visible. */
  reveal(start: TraceTime, end: TraceTime): void {
    if (end > this.start && start < this.end) return;
    const middle = (start + end) / 2;
    this.show(middle - this.length / 2, middle + this.length / 2);
  }

  private allowed(length: TraceTime): TraceTime {
    return Math.min(Math.max(length, this.shortest), this.span);
  }
}
