import { type CssPx, type Picoseconds, type TraceTime, toTraceTime } from "../lib/units";
import type { Flow, Header } from "./data/header";
import type { Highlight, Slice, Slices, Totals } from "./data/slices";
import type { Tool } from "./drag";
import { DARK, Ink, LIGHT, type Look, paletteIndices } from "./draw/colors";
import { GUTTER_PX, headPx, type Scene } from "./draw/scene";
import { sliceAt } from "./hit_test";
import type { SelectedRange } from "./range";
import { Rows } from "./rows";
import { Viewport } from "./viewport";

/** The shortest time that can fill the plot. */
const SHORTEST: Picoseconds = 1_000;
// Up to this share of the whole, time before the first event is shown.
const SHORT_LEAD = 0.05;
const LABELS_MIN_PX = 144;
const LABELS_MAX_PX = 220;
const LABELS_SHARE = 0.2;

/** What follows changes of the state. */
export interface StateListener {
  /** Something that is drawn changed. */
  changed(): void;
  /** The visible range changed. */
  moved(): void;
  /** Rows were folded, unfolded or filtered. */
  arranged(): void;
  selected(slice: Slice | null): void;
  /** A range, or none, is selected; it is no longer being dragged. */
  rangeSettled(range: SelectedRange | null): void;
}

/** What is shown: which part of the trace, what is selected and highlighted, size and colours. Knows no elements. */
export class State implements Scene {
  readonly viewport: Viewport;
  readonly rows: Rows;
  /** Where the first event starts, if there is much time before it; else 0. */
  readonly firstStart: TraceTime;
  tool: Tool = "pan";
  /** Where the pointer is on the canvas; both are -1 while it is elsewhere. */
  pointer: { x: CssPx; y: CssPx } = { x: -1, y: -1 };
  selection: Slice | null = null;
  flows: Flow[] = [];
  range: SelectedRange | null = null;
  highlight: Highlight | null = null;
  band: [CssPx, CssPx] | null = null;
  width: CssPx = 0;
  height: CssPx = 0;
  scrollTop: CssPx = 0;
  look: Look;

  /** `slices` are those of the whole trace; `setSlices` replaces them by finer or filtered ones. */
  constructor(
    readonly header: Header,
    public slices: Slices,
    private readonly listener: StateListener,
  ) {
    const span = Math.max(toTraceTime(header.span_ps, header.unit_ps), 1);
    this.viewport = new Viewport(span, toTraceTime(SHORTEST, header.unit_ps));
    this.firstStart = firstStart(slices, span);
    this.rows = new Rows(header);
    this.look = { theme: LIGHT, ink: new Ink(LIGHT), colors: paletteIndices(header.colors) };
  }

  /** Whether only the kernel has every single event. */
  get needsKernel(): boolean {
    return !!this.header.merged && !this.header.alone;
  }

  get labelWidth(): CssPx {
    return Math.min(Math.max(Math.round(this.width * LABELS_SHARE), LABELS_MIN_PX), LABELS_MAX_PX);
  }

  /** The height at which all rows fit. */
  get naturalHeight(): CssPx {
    return headPx(this.header) + this.rows.height;
  }

  /** The events of a name in the visible range. */
  totalsInView(name: number): Totals {
    return this.slices.totals(name, this.viewport.start, this.viewport.end);
  }

  setSlices(slices: Slices): void {
    if (slices === this.slices) return;
    this.slices = slices;
    if (this.highlight) this.highlight = slices.highlight(this.highlight.names);
    this.listener.changed();
  }

  setDark(dark: boolean): void {
    const theme = dark ? DARK : LIGHT;
    this.look = { ...this.look, theme, ink: new Ink(theme) };
    this.listener.changed();
  }

  /** Sets the size of the canvas; a width of 0 means that it is hidden. */
  resize(width: CssPx, height: CssPx): void {
    this.width = width;
    this.height = height;
    this.viewport.width = Math.max(width - this.labelWidth - GUTTER_PX, 1);
    this.scrollBy(0);
    this.listener.changed();
  }

  /** Changes the visible range. */
  move(change: (viewport: Viewport) => void): void {
    change(this.viewport);
    this.listener.changed();
    this.listener.moved();
  }

  /** Changes which rows are shown. */
  arrange(change: (rows: Rows) => void): void {
    change(this.rows);
    this.listener.arranged();
  }

  /** Scrolls the rows; returns false if there is nothing further in that direction. */
  scrollBy(px: CssPx): boolean {
    const before = this.scrollTop;
    const furthest = Math.max(this.naturalHeight - this.height, 0);
    this.scrollTop = Math.min(Math.max(before + px, 0), furthest);
    if (this.scrollTop !== before) this.listener.changed();
    return this.scrollTop !== before;
  }

  /** The slice under the pointer, or -1: another one after the trace moves below it. */
  get hovered(): number {
    return sliceAt(this, this.pointer.x, this.pointer.y);
  }

  hover(x: CssPx, y: CssPx): void {
    const before = this.hovered;
    this.pointer = { x, y };
    if (this.hovered !== before) this.listener.changed();
  }

  select(slice: Slice | null): void {
    this.selection = slice;
    this.flows = [];
    this.listener.changed();
    this.listener.selected(slice);
  }

  setFlows(flows: Flow[]): void {
    this.flows = flows;
    this.listener.changed();
  }

  /** Flags the names to highlight; null for none. */
  setHighlight(names: Uint8Array | null): void {
    this.highlight = names && this.slices.highlight(names);
    this.listener.changed();
  }

  setRange(range: SelectedRange | null): void {
    this.range = range;
    this.listener.changed();
  }

  settleRange(): void {
    this.listener.rangeSettled(this.range);
  }

  setBand(band: [CssPx, CssPx] | null): void {
    this.band = band;
    this.listener.changed();
  }
}

function firstStart(slices: Slices, span: TraceTime): TraceTime {
  const starts = Array.from(slices.lanes, (slice) => (slice < slices.count ? slices.startOf(slice) : span));
  const first = Math.min(span, ...starts);
  return first < span * SHORT_LEAD ? 0 : first;
}
