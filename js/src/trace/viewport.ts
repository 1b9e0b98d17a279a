/** The visible part of the time axis: from `start` to `end` (trace units), drawn `width` CSS pixels wide. */
export class Viewport {
  start = 0;
  end: number;
  width = 1;

  /** `span` is the whole trace; never less than `least` of it is shown. */
  constructor(
    readonly span: number,
    private readonly least: number,
  ) {
    this.end = span;
  }

  get length(): number {
    return this.end - this.start;
  }

  toPx(time: number): number {
    return ((time - this.start) / this.length) * this.width;
  }

  toTime(px: number): number {
    return this.start + (px / this.width) * this.length;
  }

  /** Shows [start, end), moved and stretched as far as needed to stay within the trace. */
  show(start: number, end: number): void {
    const length = Math.min(Math.max(end - start, this.least), this.span);
    const from = (start + end - length) / 2;
    this.start = Math.min(Math.max(from, 0), this.span - length);
    this.end = this.start + length;
  }

  /** Zooms by `factor` (above 1: closer) so that the time at `px` stays where it is. */
  zoom(factor: number, px: number): void {
    const time = this.toTime(px);
    const length = Math.min(Math.max(this.length / factor, this.least), this.span);
    const start = time - (px / this.width) * length;
    this.show(start, start + length);
  }

  pan(px: number): void {
    const time = (px / this.width) * this.length;
    this.show(this.start + time, this.end + time);
  }

  /** Moves, without zooming, so that [start, end) is in sight. */
  reach(start: number, end: number): void {
    if (end > this.start && start < this.end) return;
    const middle = (start + end) / 2;
    this.show(middle - this.length / 2, middle + this.length / 2);
  }
}
