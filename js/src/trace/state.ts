import type { Flow, Header, Told } from "./data/header";
import type { Events, Highlight, Place } from "./data/slices";
import { DARK, Ink, LIGHT, paletteIndices, type Theme } from "./draw/colors";
import { Painter } from "./draw/painter";
import { GUTTER_PX, headPx, type Scene, stepAt } from "./draw/scene";
import { eventAt } from "./hit_test";
import type { Actions } from "./keyboard";
import { anyInSight, nested, ofSameName } from "./neighbours";
import { type Range, snap } from "./range";
import { LANE_PX, type Row, Rows } from "./rows";
import type { Tool } from "./ui/toolbar";
import { Viewport } from "./viewport";

// The shortest time that can fill the plot.
const LEAST_PS = 1_000;
// Time before the first event that is no nuisance, as a share of the whole.
const SHORT_LEAD = 0.05;
const LABELS_MIN_PX = 144;
const LABELS_MAX_PX = 220;
const LABELS_SHARE = 0.2;
const SNAP_PX = 6;

/** What happens in the viewer, for those around it. */
export interface Listener {
  /** The visible range changed. */
  moved(): void;
  /** All rows together became higher or lower. */
  arranged(): void;
  /** Another event, or none, is selected. */
  selected(place: Place | null): void;
  /** Another range, or none, is selected for good. */
  ranged(range: Range | null): void;
  /** The pointer is over a slice, a row without one there, or neither (a slice of -1, no row). */
  hovered(slice: number, row: Row | undefined, x: number, y: number): void;
  toolChosen(tool: Tool): void;
  /** The next event of these names is wanted, which may be among merged ones. */
  findWanted(names: Uint8Array, direction: 1 | -1): void;
  searchWanted(): void;
  helpWanted(): void;
  /** Escape was pressed with nothing selected. */
  cleared(): void;
}

/** The state of one trace view and what can be done with it; draws at most once per animation frame. */
export class Viewer implements Actions {
  readonly viewport: Viewport;
  readonly rows: Rows;
  tool: Tool = "pan";
  selection: Place | null = null;
  range: Range | null = null;
  highlight: Highlight | null = null;
  /** Where the first event starts, if there is much time without any before it; else 0. */
  readonly firstStart: number;
  private flows: Flow[] = [];
  private readonly painter: Painter;
  private readonly colors: Uint8Array;
  private theme: Theme = LIGHT;
  private ink = new Ink(LIGHT);
  private width = 0;
  private height = 0;
  private scrolled = 0;
  private hoveredSlice = -1;
  private pointerX = -1;
  private band: [number, number] | null = null;
  private frame = 0;

  /** `events` is what is drawn now: a filter or a closer look replaces it. */
  constructor(
    canvas: HTMLCanvasElement,
    readonly header: Header,
    public events: Events,
    private readonly listener: Listener,
  ) {
    this.viewport = new Viewport(Math.max(header.span_ps / header.unit_ps, 1), this.least());
    this.firstStart = firstStart(events, this.viewport.span);
    this.rows = new Rows(header);
    this.painter = new Painter(canvas);
    this.colors = paletteIndices(header.colors);
  }

  setEvents(events: Events): void {
    if (events === this.events) return;
    this.events = events;
    this.hoveredSlice = -1;
    if (this.highlight) this.highlight = events.highlight(this.highlight.names);
    this.invalidate();
  }

  /** Whether only the kernel has every single event. */
  get inKernel(): boolean {
    return !!this.header.merged && !this.header.alone;
  }

  setDark(dark: boolean): void {
    this.theme = dark ? DARK : LIGHT;
    this.ink = new Ink(this.theme);
    this.invalidate();
  }

  get look(): { theme: Theme; ink: Ink; colors: Uint8Array } {
    return { theme: this.theme, ink: this.ink, colors: this.colors };
  }

  /** Sets the size of the canvas; a width of 0 means hidden, and nothing is drawn. */
  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.viewport.width = Math.max(width - this.labels - GUTTER_PX, 1);
    this.scroll(0);
    this.invalidate();
  }

  /** The height at which all rows fit, in CSS pixels. */
  get naturalHeight(): number {
    return headPx(this.header) + this.rows.height;
  }

  get labels(): number {
    return Math.min(Math.max(Math.round(this.width * LABELS_SHARE), LABELS_MIN_PX), LABELS_MAX_PX);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  show(start: number, end: number): void {
    this.viewport.show(start, end);
    this.moved();
  }

  /** Shows all events: from the first start, because many profiles begin with time in which nothing was recorded. */
  showAll(): void {
    this.show(this.firstStart, this.viewport.span);
  }

  get showsAll(): boolean {
    return this.viewport.start <= this.firstStart && this.viewport.end >= this.viewport.span;
  }

  zoom(factor: number, x = this.pointerX): void {
    const px = x >= this.labels ? x - this.labels : this.viewport.width / 2;
    this.viewport.zoom(factor, px);
    this.moved();
  }

  pan(px: number): void {
    this.viewport.pan(px);
    this.moved();
  }

  scroll(px: number): boolean {
    const most = Math.max(this.naturalHeight - this.height, 0);
    const before = this.scrolled;
    this.scrolled = Math.min(Math.max(before + px, 0), most);
    if (this.scrolled !== before) this.invalidate();
    return this.scrolled !== before;
  }

  fitSelection(): void {
    const { selection, range } = this;
    const [start, length] = selection
      ? [selection.start, selection.duration]
      : range
        ? [range.start, range.end - range.start]
        : [0, -1];
    if (length < 0) return;
    const margin = Math.max(length * 0.1, this.least());
    this.show(start - margin, start + length + margin);
  }

  /** Selects an event and brings it into sight; null selects none. */
  select(place: Place | null): void {
    if (place?.event === this.selection?.event) return;
    this.selection = place;
    this.flows = [];
    if (place) this.reach(place);
    this.invalidate();
    this.listener.selected(place);
  }

  selectSlice(slice: number): void {
    this.select(slice < 0 ? null : this.events.placeOf(slice));
  }

  /** Selects an event where the kernel says that it is. */
  selectTold(told: Told): void {
    const unit = this.header.unit_ps;
    const { event, lane, name } = told;
    this.select({
      event,
      lane,
      name,
      start: told.start_ps / unit,
      duration: told.duration_ps / unit,
      merged: 1,
    });
  }

  /** Draws arrows between the selected event and what caused it or was caused by it. */
  setFlows(flows: Flow[]): void {
    this.flows = flows;
    this.invalidate();
  }

  /** Flags the names to show in full colour while others are dimmed. */
  setHighlight(names: Uint8Array | null): void {
    this.highlight = names && this.events.highlight(names);
    this.invalidate();
  }

  /** Selects the next or previous event in time whose name matches, seen from the selection or the left edge. */
  nextMatch(names: Uint8Array, direction: 1 | -1): void {
    const { selection, events, viewport } = this;
    if (this.inKernel) this.listener.findWanted(names, direction);
    else
      this.walk(
        events.neighbour(selection?.event ?? -1, selection?.start ?? viewport.start, names, direction),
      );
  }

  nextOfName(direction: 1 | -1): void {
    const { selection, events, rows, viewport, header } = this;
    if (!selection) {
      this.walk(anyInSight(events, rows, viewport));
    } else if (this.inKernel) {
      const names = new Uint8Array(header.names.length);
      names[selection.name] = 1;
      this.listener.findWanted(names, direction);
    } else {
      this.walk(ofSameName(events, header.names.length, selection, direction));
    }
  }

  nest(direction: 1 | -1): void {
    const { selection, events, rows, viewport } = this;
    if (!selection) this.walk(anyInSight(events, rows, viewport));
    else this.walk(nested(events, rows, selection, direction));
  }

  hover(x: number, y: number): void {
    this.pointerX = x;
    const row = this.rowAt(y);
    const slice = row && x >= this.labels ? this.sliceAt(row, x, y) : -1;
    if (slice !== this.hoveredSlice) this.invalidate();
    this.hoveredSlice = slice;
    this.listener.hovered(slice, row, x, y);
  }

  leave(): void {
    this.pointerX = -1;
    this.hover(-1, -1);
  }

  click(x: number, y: number): void {
    const row = this.rowAt(y);
    const step = stepAt(this.scene(), x, y);
    if (step) {
      const unit = this.header.unit_ps;
      this.show(step.start_ps / unit, (step.start_ps + step.duration_ps) / unit);
    } else if (row?.foldable && (row.kind !== "track" || x < this.labels)) {
      this.toggle(row);
    } else {
      this.selectSlice(row && x >= this.labels ? this.sliceAt(row, x, y) : -1);
    }
  }

  fold(kind: "track" | "section"): void {
    if (!this.selection) return;
    const track = this.rows.trackOf(this.selection.lane);
    const wanted = kind === "track" ? track : this.header.tracks[track].group;
    const row = this.rows.list.find((row) => row.kind === kind && row.index === wanted);
    if (row?.foldable) this.toggle(row);
  }

  unfoldIdle(): void {
    this.rows.toggleMore();
    this.listener.arranged();
  }

  filterRows(text: string): void {
    this.rows.filter(text);
    this.listener.arranged();
  }

  chooseTool(tool: Tool): void {
    this.tool = tool;
    this.listener.toolChosen(tool);
  }

  mark(): void {
    const { selection, viewport, range } = this;
    const start = selection?.start ?? viewport.start;
    const end = selection ? start + selection.duration : viewport.end;
    const same = range?.start === start && range.end === end;
    this.setRange(same ? null : { start, end, tracks: null });
    this.settleRange();
  }

  setRange(range: Range | null): void {
    this.range = range;
    this.invalidate();
  }

  settleRange(): void {
    this.listener.ranged(this.range);
  }

  markBand(from: number, to: number): void {
    this.band = [Math.max(from, this.labels), Math.max(to, this.labels)];
    this.invalidate();
  }

  showBand(from: number, to: number): void {
    this.band = null;
    const [left, right] = [this.timeAt(from), this.timeAt(to)];
    this.show(Math.min(left, right), Math.max(left, right));
  }

  selectArea(fromX: number, fromY: number, toX: number, toY: number): void {
    const [a, b] = [this.timeAt(fromX), this.timeAt(toX)];
    const [from, to] = [fromY, toY].map((y) => y - headPx(this.header) + this.scrolled);
    const tracks = fromY < headPx(this.header) ? null : this.rows.tracksBetween(from, to);
    this.setRange({ start: Math.min(a, b), end: Math.max(a, b), tracks: tracks?.size ? tracks : null });
  }

  measure(fromX: number, fromY: number, toX: number, toY: number): void {
    const [a, b] = [this.edgeAt(fromX, fromY), this.edgeAt(toX, toY)];
    this.setRange({ start: Math.min(a, b), end: Math.max(a, b), tracks: null });
  }

  otherCursor(x: number): number {
    if (!this.range) return -1;
    const [left, right] = [this.range.start, this.range.end].map((t) => this.labels + this.viewport.toPx(t));
    if (Math.abs(x - left) <= SNAP_PX) return right;
    return Math.abs(x - right) <= SNAP_PX ? left : -1;
  }

  search(): void {
    this.listener.searchWanted();
  }

  help(): void {
    this.listener.helpWanted();
  }

  escape(): void {
    if (this.selection) this.select(null);
    else if (this.range) {
      this.setRange(null);
      this.settleRange();
    } else this.listener.cleared();
  }

  timeAt(x: number): number {
    return this.viewport.toTime(Math.max(x - this.labels, 0));
  }

  invalidate(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  private edgeAt(x: number, y: number): number {
    const row = this.rowAt(y);
    const lane = row ? this.laneAt(row, y) : -1;
    const slack = (SNAP_PX / this.viewport.width) * this.viewport.length;
    return snap(this.events, lane, this.timeAt(x), slack);
  }

  private least(): number {
    return LEAST_PS / this.header.unit_ps;
  }

  private moved(): void {
    this.invalidate();
    this.listener.moved();
  }

  private toggle(row: Row): void {
    this.rows.toggle(row);
    this.listener.arranged();
  }

  private rowAt(y: number): Row | undefined {
    const head = headPx(this.header);
    return y < head ? undefined : this.rows.at(y - head + this.scrolled);
  }

  private laneAt(row: Row, y: number): number {
    return this.rows.laneAt(row, y - headPx(this.header) + this.scrolled);
  }

  private sliceAt(row: Row, x: number, y: number): number {
    const lane = this.laneAt(row, y);
    return lane < 0 ? -1 : eventAt(this.events, this.viewport, lane, x - this.labels);
  }

  /** Selects what a walk has found, if anything. */
  private walk(slice: number): void {
    if (slice >= 0) this.selectSlice(slice);
  }

  /** Brings an event into sight: unfolds its track, scrolls, and moves the visible range if it is outside. */
  private reach({ lane, start, duration }: Place): void {
    if (this.rows.topOf(lane) < 0) {
      this.rows.unfold(lane);
      this.listener.arranged();
    }
    const top = this.rows.topOf(lane);
    const room = this.height - headPx(this.header);
    if (top < this.scrolled || top + LANE_PX > this.scrolled + room)
      this.scroll(top - room / 2 - this.scrolled);
    this.viewport.reach(start, start + duration);
    this.listener.moved();
  }

  private draw(): void {
    if (this.width > 0 && this.height > 0) this.painter.paint(this.scene());
  }

  private scene(): Scene {
    const { header, events, rows, viewport, ink, theme, colors, highlight, band, range, flows, selection } =
      this;
    const { width, height, labels, hoveredSlice: hovered, scrolled: scroll } = this;
    const state = { highlight, band, range, flows, selection, hovered };
    return { header, events, rows, viewport, ink, theme, colors, ...state, width, height, labels, scroll };
  }
}

function firstStart({ start, lanes, count }: Events, span: number): number {
  const first = Math.min(span, ...Array.from(lanes, (slice) => (slice < count ? start[slice] : span)));
  return first < span * SHORT_LEAD ? 0 : first;
}
