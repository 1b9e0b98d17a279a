import { button, debounce, element, OWN_KEYS } from "../lib/dom";
import { duration, grouped } from "../lib/format";
import { listen, type Model, push } from "../lib/host";
import { followTheme } from "../lib/theme";
import { connect } from "./controls";
import { Details, type Stats } from "./details";
import type { Events } from "./events";
import type { Header } from "./header";
import { helpOverlay } from "./help";
import type { Row } from "./rows";
import { exactTime, timeWithin } from "./ruler";
import { matchOp, Search } from "./search";
import { eventLines, rowLines, Tooltip } from "./tooltip";
import { type Listener, Viewer } from "./viewer";

export interface Traits {
  header: Header;
  payload: BlobPart[];
  time_range: [number, number] | null;
  selected_event: number | null;
  selected_name: string | null;
  height: number;
  static_id: string;
}

const SETTLED_MS = 150;

/** The trace viewer as the user sees it: toolbar, canvas, details, and their ties to the kernel's traits. */
export class TraceView implements Listener {
  private readonly canvas = element("canvas", {
    ...OWN_KEYS,
    class: "tfp-canvas",
    tabindex: 0,
    role: "application",
  });
  private readonly stage = element("div", { class: "tfp-stage" }, this.canvas);
  private readonly status = element("div", { class: "tfp-hidden", role: "status", "aria-live": "polite" });
  private readonly range = element("span", { class: "tfp-muted tfp-push" });
  private readonly tooltip = new Tooltip();
  private readonly overlay = helpOverlay(() => this.helpWanted());
  private readonly viewer: Viewer;
  private readonly details: Details;
  private readonly search: Search;
  private readonly settled: () => void;
  private asked = 0;
  private sending = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly model: Model<Traits>,
    events: Events,
    signal: AbortSignal,
  ) {
    const header = model.get("header");
    this.viewer = new Viewer(this.canvas, header, events, this);
    this.details = new Details(this.viewer, {
      fit: () => this.viewer.fitSelection(),
      step: (direction) => this.viewer.nextOfName(direction),
      highlight: () => this.highlightSelected(),
      close: () => this.viewer.select(-1),
    });
    this.search = new Search(
      this.viewer,
      () => push(model, "selected_name", null),
      () => this.canvas.focus(),
      signal,
    );
    this.settled = debounce(() => this.afterMove(), SETTLED_MS, signal);
    this.canvas.setAttribute("aria-label", summary(header));
    this.assemble();
    connect(this.canvas, this.viewer, signal);
    this.follow(signal);
  }

  moved(): void {
    const { viewport, header } = this.viewer;
    const [start, end] = [viewport.start, viewport.end].map((time) => time * header.unit_ps);
    const [from, to] = [start, end].map((time) => timeWithin(time, (end - start) / 1000));
    this.range.textContent = `${from} to ${to} (${duration(end - start)})`;
    this.settled();
  }

  arranged(): void {
    this.resize();
  }

  selected(event: number): void {
    this.status.textContent = this.details.show(event);
    push(this.model, "selected_event", event < 0 ? null : event);
    this.asked += 1;
    if (event >= 0) this.model.send({ type: "details", event, id: this.asked });
  }

  hovered(event: number, row: Row | undefined, x: number, y: number): void {
    const lines = event >= 0 ? eventLines(this.viewer, event) : row ? rowLines(this.viewer, row) : [];
    this.tooltip.show(lines, x, y);
  }

  searchWanted(): void {
    this.search.input.focus();
  }

  helpWanted(): void {
    this.overlay.hidden = !this.overlay.hidden;
    if (this.overlay.hidden) this.canvas.focus();
  }

  cleared(): void {
    this.overlay.hidden = true;
    this.search.set("");
    push(this.model, "selected_name", null);
  }

  private assemble(): void {
    const { viewer } = this;
    const toolbar = element(
      "div",
      { class: "tfp-toolbar" },
      ...this.search.parts,
      this.range,
      button("−", "Zoom out (S)", () => viewer.zoom(1 / 2)),
      button("+", "Zoom in (W)", () => viewer.zoom(2)),
      button("All", "Show everything (0)", () => viewer.showAll()),
      button("?", "Mouse and keys (?)", () => this.helpWanted()),
    );
    this.stage.append(this.tooltip.root, this.overlay);
    this.root.append(toolbar, this.stage, this.details.root, this.status);
    for (const note of viewer.header.notes)
      this.root.append(element("p", { class: "tfp-note tfp-muted" }, note));
  }

  private follow(signal: AbortSignal): void {
    const { model, viewer } = this;
    followTheme(this.root, signal, (dark) => viewer.setDark(dark));
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.stage);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      viewer.stop();
    });
    listen(model, "change:height", () => this.resize(), signal);
    listen(model, "change:time_range", () => this.takeRange(), signal);
    listen(model, "change:selected_event", () => viewer.select(model.get("selected_event") ?? -1), signal);
    listen(model, "change:selected_name", () => this.takeName(), signal);
    listen(model, "msg:custom", (content) => this.receive(content), signal);
    this.resize();
    this.takeRange();
    this.takeName();
    viewer.select(model.get("selected_event") ?? -1);
  }

  private resize(): void {
    const { viewer, stage } = this;
    const height = Math.min(this.model.get("height"), Math.max(viewer.naturalHeight, 60));
    stage.style.height = `${height}px`;
    viewer.resize(stage.clientWidth, height);
  }

  private takeRange(): void {
    if (this.sending) return;
    const range = this.model.get("time_range");
    const unit = this.viewer.header.unit_ps;
    if (range) this.viewer.show(range[0] / unit, range[1] / unit);
    else this.viewer.showAll();
  }

  private takeName(): void {
    const name = this.model.get("selected_name");
    if (name !== null) this.search.set(name, matchOp);
    else if (this.viewer.highlight && this.search.input !== document.activeElement) this.search.set("");
  }

  private highlightSelected(): void {
    const { events, header, selectedEvent } = this.viewer;
    push(this.model, "selected_name", header.names[events.name[selectedEvent]]);
    this.takeName();
  }

  private receive(content: { type?: string; id?: number; stats?: Stats }): void {
    if (content.type === "details" && content.id === this.asked && content.stats)
      this.details.showStats(content.stats);
  }

  private afterMove(): void {
    const { viewport, header } = this.viewer;
    // Whole picoseconds survive the way there and back, so that two views of one model settle.
    const range: [number, number] = [viewport.start, viewport.end].map((t) =>
      Math.round(t * header.unit_ps),
    ) as never;
    this.sending = true;
    push(this.model, "time_range", this.viewer.showsAll ? null : range);
    this.sending = false;
    this.details.update();
  }
}

function summary(header: Header): string {
  const tracks = header.tracks.filter((track) => track.depths.some((events) => events > 0)).length;
  const steps = header.steps.length ? `, ${grouped(header.steps.length)} steps` : "";
  return `Timeline: ${grouped(header.events)} events on ${grouped(tracks)} tracks over ${exactTime(header.span_ps)}${steps}. Press question mark for keys.`;
}
