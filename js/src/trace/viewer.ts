import type { Actions } from "./controls";
import type { Events, Highlight } from "./events";
import type { Header } from "./header";
import { eventAt } from "./hit";
import { DARK, Ink, LIGHT, paletteIndices, type Theme } from "./ink";
import { Painter } from "./painter";
import { LANE_PX, type Row, Rows } from "./rows";
import { GUTTER_PX, headPx, type Scene } from "./scene";
import { Viewport } from "./viewport";
import { anyInSight, nested, ofSameName } from "./walk";

// The shortest time that can fill the plot.
const LEAST_PS = 1_000;
// Time before the first event that is no nuisance, as a share of the whole.
const SHORT_LEAD = 0.05;
const LABELS_MIN_PX = 144;
const LABELS_MAX_PX = 220;
const LABELS_SHARE = 0.2;

/** What happens in the viewer, for those around it. */
export interface Listener {
  /** The visible range changed. */
  moved(): void;
  /** All rows together became higher or lower. */
  arranged(): void;
  /** Another event, or none (-1), is selected. */
  selected(event: number): void;
  /** The pointer is over an event, the label of a row, or neither. */
  hovered(event: number, row: Row | undefined, x: number, y: number): void;
  searchWanted(): void;
  helpWanted(): void;
  /** Escape was pressed with nothing selected. */
  cleared(): void;
}

/** The state of one trace view and what can be done with it; draws at most once per animation frame. */
export class Viewer implements Actions {
  readonly viewport: Viewport;
  readonly rows: Rows;
  private readonly painter: Painter;
  private readonly colors: Uint8Array;
  private theme: Theme = LIGHT;
  private ink = new Ink(LIGHT);
  private width = 0;
  private height = 0;
  private scrolled = 0;
  private hoveredEvent = -1;
  private pointerX = -1;
  private band: [number, number] | null = null;
  private frame = 0;
  selectedEvent = -1;
  highlight: Highlight | null = null;

  constructor(
    canvas: HTMLCanvasElement,
    readonly header: Header,
    readonly events: Events,
    private readonly listener: Listener,
  ) {
    this.viewport = new Viewport(Math.max(header.span_ps / header.unit_ps, 1), this.least());
    this.rows = new Rows(header);
    this.painter = new Painter(canvas);
    this.colors = paletteIndices(header.colors);
  }

  setDark(dark: boolean): void {
    this.theme = dark ? DARK : LIGHT;
    this.ink = new Ink(this.theme);
    this.invalidate();
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
    this.show(this.firstStart(), this.viewport.span);
  }

  get showsAll(): boolean {
    return this.viewport.start <= this.firstStart() && this.viewport.end >= this.viewport.span;
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
    if (this.selectedEvent < 0) return;
    const { events, selectedEvent } = this;
    const margin = Math.max(events.duration(selectedEvent) * 0.1, this.least());
    this.show(events.start[selectedEvent] - margin, events.end(selectedEvent) + margin);
  }

  select(event: number): void {
    if (event === this.selectedEvent) return;
    this.selectedEvent = event;
    if (event >= 0) this.reach(event);
    this.invalidate();
    this.listener.selected(event);
  }

  setHighlight(highlight: Highlight | null): void {
    this.highlight = highlight;
    this.invalidate();
  }

  /** Selects the next or previous event in time whose name matches, seen from the selection or the left edge. */
  nextMatch(names: Uint8Array, direction: 1 | -1): void {
    const { selectedEvent, events, viewport } = this;
    const time = selectedEvent >= 0 ? events.start[selectedEvent] : viewport.start;
    this.walk(events.neighbour(selectedEvent, time, names, direction));
  }

  nextOfName(direction: 1 | -1): void {
    const { selectedEvent, events, rows, viewport, header } = this;
    if (selectedEvent < 0) this.walk(anyInSight(events, rows, viewport));
    else this.walk(ofSameName(events, header.names.length, selectedEvent, direction));
  }

  nest(direction: 1 | -1): void {
    const { selectedEvent, events, rows, viewport } = this;
    if (selectedEvent < 0) this.walk(anyInSight(events, rows, viewport));
    else this.walk(nested(events, rows, selectedEvent, direction));
  }

  hover(x: number, y: number): void {
    this.pointerX = x;
    const row = this.rowAt(y);
    const event = row && x >= this.labels ? this.eventAt(row, x, y) : -1;
    if (event !== this.hoveredEvent) this.invalidate();
    this.hoveredEvent = event;
    this.listener.hovered(event, x < this.labels ? row : undefined, x, y);
  }

  leave(): void {
    this.pointerX = -1;
    this.hover(-1, -1);
  }

  click(x: number, y: number): void {
    const row = this.rowAt(y);
    if (row?.foldable && (row.kind === "section" || x < this.labels)) {
      this.toggle(row);
    } else {
      this.select(row && x >= this.labels ? this.eventAt(row, x, y) : -1);
    }
  }

  fold(): void {
    if (this.selectedEvent < 0) return;
    const track = this.rows.trackOf(this.events.laneOf(this.selectedEvent));
    const row = this.rows.list.find(({ kind, index }) => kind === "track" && index === track);
    if (row?.foldable) this.toggle(row);
  }

  markRange(from: number, to: number): void {
    this.band = [Math.max(from, this.labels), Math.max(to, this.labels)];
    this.invalidate();
  }

  showRange(from: number, to: number): void {
    this.band = null;
    const [left, right] = [from, to].map((x) => this.viewport.toTime(Math.max(x - this.labels, 0)));
    this.show(Math.min(left, right), Math.max(left, right));
  }

  search(): void {
    this.listener.searchWanted();
  }

  help(): void {
    this.listener.helpWanted();
  }

  escape(): void {
    if (this.selectedEvent >= 0) this.select(-1);
    else this.listener.cleared();
  }

  private firstStart(): number {
    const { start, lanes, count } = this.events;
    const { span } = this.viewport;
    const first = Math.min(span, ...Array.from(lanes, (event) => (event < count ? start[event] : span)));
    return first < span * SHORT_LEAD ? 0 : first;
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

  private eventAt(row: Row, x: number, y: number): number {
    const lane = this.rows.laneAt(row, y - headPx(this.header) + this.scrolled);
    return lane < 0 ? -1 : eventAt(this.events, this.viewport, lane, x - this.labels);
  }

  /** Selects the event that a walk has found, if any. */
  private walk(event: number): void {
    if (event >= 0) this.select(event);
  }

  /** Brings an event into sight: unfolds its track, scrolls, and moves the visible range if it is outside. */
  private reach(event: number): void {
    const lane = this.events.laneOf(event);
    if (this.rows.topOf(lane) < 0) {
      this.rows.unfold(lane);
      this.listener.arranged();
    }
    const top = this.rows.topOf(lane);
    const room = this.height - headPx(this.header);
    if (top < this.scrolled || top + LANE_PX > this.scrolled + room)
      this.scroll(top - room / 2 - this.scrolled);
    this.viewport.reach(this.events.start[event], this.events.end(event));
    this.listener.moved();
  }

  private invalidate(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    if (this.width > 0 && this.height > 0) this.painter.paint(this.scene());
  }

  private scene(): Scene {
    const { header, events, rows, viewport, ink, theme, colors, highlight, band, width, height, labels } =
      this;
    const [selected, hovered, scroll] = [this.selectedEvent, this.hoveredEvent, this.scrolled];
    return {
      header,
      events,
      rows,
      viewport,
      ink,
      theme,
      colors,
      highlight,
      band,
      width,
      height,
      labels,
      selected,
      hovered,
      scroll,
    };
  }
}
