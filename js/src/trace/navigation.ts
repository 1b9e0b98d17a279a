import { type CssPx, type TraceTime, toPicoseconds, toTraceTime } from "../lib/units";
import type { EventLocation } from "./data/header";
import type { Slice } from "./data/slices";
import { headPx } from "./draw/scene";
import { rowAt, sliceAt, stepAt, timeAt } from "./hit_test";
import type { Kernel } from "./kernel";
import { firstVisible, flagged, nested } from "./neighbours";
import { LANE_PX, type Row } from "./rows";
import type { State } from "./state";

const FIT_MARGIN = 0.1;
const STEPS_MARGIN = 0.02;

/** Commands that lead through the trace: in time, over the rows, from event to event. */
export class Navigation {
  constructor(
    private readonly state: State,
    private readonly kernel: Pick<Kernel, "ask">,
  ) {}

  show(start: TraceTime, end: TraceTime): void {
    this.state.move((viewport) => viewport.show(start, end));
  }

  /** Shows all events: from the first start on, because many profiles begin with time in which nothing was recorded. */
  showAll(): void {
    this.show(this.state.firstStart, this.state.viewport.span);
  }

  get showsAll(): boolean {
    const { viewport, firstStart } = this.state;
    return viewport.start <= firstStart && viewport.end >= viewport.span;
  }

  /** Shows the steps after warm-up with a margin; everything if there are none, as in a capture without marks. */
  showSteps(): void {
    const { steps: all, unit_ps } = this.state.header;
    const after = all.filter((step) => !step.warm_up);
    const steps = after.length ? after : all;
    const start = steps.reduce((least, { start_ps }) => Math.min(least, start_ps), Infinity);
    const end = steps.reduce((most, { start_ps, duration_ps }) => Math.max(most, start_ps + duration_ps), 0);
    const margin = (end - start) * STEPS_MARGIN;
    if (steps.length === 0) this.showAll();
    else this.show(toTraceTime(start - margin, unit_ps), toTraceTime(end + margin, unit_ps));
  }

  /** Zooms at a position, of -1 at the middle of the plot; by default at the pointer. */
  zoom(factor: number, x: CssPx = this.state.pointer.x): void {
    const { labelWidth } = this.state;
    this.state.move((viewport) =>
      viewport.zoom(factor, x >= labelWidth ? x - labelWidth : viewport.width / 2),
    );
  }

  pan(px: CssPx): void {
    this.state.move((viewport) => viewport.pan(px));
  }

  /** Scrolls the rows; returns false if there is nothing further in that direction. */
  scroll(px: CssPx): boolean {
    return this.state.scrollBy(px);
  }

  /** Shows the selected slice, or else the selected range, with a margin. */
  fitSelection(): void {
    const { selection, range, viewport } = this.state;
    if (!selection && !range) return;
    const start = selection?.start ?? range?.start ?? 0;
    const end = selection ? start + selection.duration : (range?.end ?? start);
    const margin = Math.max((end - start) * FIT_MARGIN, viewport.shortest);
    this.show(start - margin, end + margin);
  }

  /** Shades the time between two positions. */
  markBand(from: CssPx, to: CssPx): void {
    const { labelWidth } = this.state;
    this.state.setBand([Math.max(from, labelWidth), Math.max(to, labelWidth)]);
  }

  /** Zooms to the time between two positions. */
  showBand(from: CssPx, to: CssPx): void {
    this.state.setBand(null);
    const [a, b] = [timeAt(this.state, from), timeAt(this.state, to)];
    this.show(Math.min(a, b), Math.max(a, b));
  }

  hover(x: CssPx, y: CssPx): void {
    this.state.hover(x, y);
  }

  click(x: CssPx, y: CssPx): void {
    const { state } = this;
    const row = rowAt(state, y);
    const step = stepAt(state, x, y);
    if (step) {
      const [from, to] = [step.start_ps, step.start_ps + step.duration_ps];
      this.show(toTraceTime(from, state.header.unit_ps), toTraceTime(to, state.header.unit_ps));
    } else if (row?.foldable && (row.kind !== "track" || x < state.labelWidth)) {
      this.toggle(row);
    } else {
      const slice = sliceAt(state, x, y);
      this.select(slice < 0 ? null : state.slices.get(slice));
    }
  }

  /** Folds or unfolds the track of the selected event, or its section. */
  fold(kind: "track" | "section"): void {
    const { selection, rows } = this.state;
    if (!selection) return;
    const track = rows.trackOf(selection.lane);
    const row = rows.find(kind, kind === "track" ? track : rows.groupOf(track));
    if (row?.foldable) this.toggle(row);
  }

  /** Opens or closes what is folded away at first: nearly idle tracks and further counters. */
  toggleMore(): void {
    this.state.arrange((rows) => rows.toggleMore());
  }

  /** Selects a slice and brings it into view; null selects none. */
  select(slice: Slice | null): void {
    if (slice?.event === this.state.selection?.event) return;
    if (slice) this.reveal(slice);
    this.state.select(slice);
  }

  /** Selects an event by its number, which may be among merged ones; null selects none. */
  selectEvent(event: number | null): void {
    const { selection, slices } = this.state;
    if (event === (selection?.event ?? null)) return;
    const slice = event === null ? -1 : slices.indexOf(event);
    if (event === null) this.select(null);
    else if (slice >= 0) this.select(slices.get(slice));
    else this.kernel.ask("place", { event }, ({ found }) => found && this.selectAt(found));
  }

  /** Selects an event where the kernel says that it is. */
  selectAt({ event, lane, name, start_ps, duration_ps }: EventLocation): void {
    const unit = this.state.header.unit_ps;
    const [start, duration] = [toTraceTime(start_ps, unit), toTraceTime(duration_ps, unit)];
    this.select({ event, lane, name, start, duration, events: 1 });
  }

  /** Selects the next or previous event in time whose name is flagged, from the selection or the left edge on. */
  nextMatch(names: Uint8Array, direction: 1 | -1): void {
    const { selection, slices, viewport, needsKernel } = this.state;
    const event = selection?.event ?? -1;
    const start = selection?.start ?? viewport.start;
    if (needsKernel) this.findInKernel(event, start, names, direction);
    else this.goTo(slices.nextMatch(event, start, names, direction));
  }

  nextOfName(direction: 1 | -1): void {
    const { selection, slices, rows, viewport, header } = this.state;
    if (selection) this.nextMatch(flagged(header.names.length, selection.name), direction);
    else this.goTo(firstVisible(slices, rows, viewport));
  }

  /** Selects the enclosing event (-1), or the longest enclosed one (1). */
  nest(direction: 1 | -1): void {
    const { selection, slices, rows, viewport } = this.state;
    this.goTo(selection ? nested(slices, rows, selection, direction) : firstVisible(slices, rows, viewport));
  }

  /** Only the kernel has every single event of a trace with merged ones. */
  private findInKernel(event: number, start: TraceTime, flags: Uint8Array, direction: 1 | -1): void {
    const names = [...flags.keys()].filter((name) => flags[name]);
    const start_ps = Math.round(toPicoseconds(start, this.state.header.unit_ps));
    const question = { names, after: event, start_ps, direction };
    this.kernel.ask("find", question, ({ found }) => found && this.selectAt(found));
  }

  private goTo(slice: number): void {
    if (slice >= 0) this.select(this.state.slices.get(slice));
  }

  private toggle(row: Row): void {
    this.state.arrange((rows) => rows.toggle(row));
  }

  /** Unfolds a slice's track, scrolls to its lane, and moves to its time if that is not visible. */
  private reveal({ lane, start, duration }: Slice): void {
    const { state } = this;
    if (state.rows.topOf(lane) < 0) state.arrange((rows) => rows.unfold(lane));
    const top = state.rows.topOf(lane);
    const room = state.height - headPx(state.header);
    if (top < state.scrollTop || top + LANE_PX > state.scrollTop + room)
      state.scrollBy(top - room / 2 - state.scrollTop);
    state.move((viewport) => viewport.reveal(start, start + duration));
  }
}
