import { button, debounce, element, OWN_KEYS } from "../lib/dom";
import { duration, grouped } from "../lib/format";
import { listen, type Model, push, send } from "../lib/host";
import { followTheme } from "../lib/theme";
import type { Flow, Header } from "./data/header";
import type { Events, Place } from "./data/slices";
import { Tiles } from "./data/tiles";
import { type Answer, Kernel } from "./kernel";
import { connect } from "./keyboard";
import { type Range, rangeTotals } from "./range";
import type { Row } from "./rows";
import { type Listener, Viewer } from "./state";
import { exactTime, timeWithin } from "./time_labels";
import { Details } from "./ui/details";
import { Filters } from "./ui/filters";
import { helpOverlay } from "./ui/help";
import { Minimap } from "./ui/minimap";
import { RangePanel } from "./ui/range_panel";
import { matchOp, Search } from "./ui/search";
import { CURSORS, type Tool, ToolBar } from "./ui/toolbar";
import { rowLines, sliceLines, Tooltip } from "./ui/tooltip";

export interface Traits {
  header: Header;
  payload: BlobPart[];
  time_range: [number, number] | null;
  selected_event: number | null;
  selected_name: string | null;
  height: number;
}

const SETTLED_MS = 150;

/** The trace viewer as the user sees it: toolbar, overview, canvas, panels, and their ties to the kernel's traits. */
export class TraceView implements Listener {
  private readonly canvas = element("canvas", {
    ...OWN_KEYS,
    class: "tfp-canvas",
    tabindex: 0,
    role: "application",
  });
  private readonly stage = element("div", { class: "tfp-stage" }, this.canvas);
  private readonly status = element("div", { class: "tfp-hidden", role: "status", "aria-live": "polite" });
  private readonly visible = element("span", { class: "tfp-muted tfp-push" });
  private readonly notice = element("p", { class: "tfp-note tfp-muted", hidden: true });
  private readonly tooltip = new Tooltip();
  private readonly overlay = helpOverlay(() => this.helpWanted());
  private readonly toolBar = new ToolBar((tool) => this.viewer.chooseTool(tool));
  private readonly viewer: Viewer;
  private readonly kernel: Kernel;
  private readonly tiles: Tiles;
  private readonly minimap: Minimap;
  private readonly details: Details;
  private readonly rangePanel: RangePanel;
  private readonly search: Search;
  private readonly filters: Filters;
  private readonly settled: () => void;
  private filtered: { from: Events; key: string; events: Events } | null = null;
  private sending = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly model: Model<Traits>,
    events: Events,
    signal: AbortSignal,
  ) {
    const header = model.get("header");
    const viewer = new Viewer(this.canvas, header, events, this);
    this.viewer = viewer;
    this.kernel = new Kernel(model, (answer) => this.receive(answer), signal);
    this.tiles = new Tiles(header, viewer.viewport, events, (request) => send(model, request), signal);
    this.minimap = new Minimap(viewer, signal);
    this.details = new Details(viewer, this.detailsActions(), signal);
    this.rangePanel = new RangePanel(header.names, {
      fit: () => viewer.fitSelection(),
      clear: () => this.dropRange(),
      highlight: (name) => this.highlight(name),
    });
    this.search = new Search(
      viewer,
      () => this.refresh(),
      () => push(model, "selected_name", null),
      () => this.canvas.focus(),
      signal,
    );
    this.filters = new Filters((filter) => {
      viewer.filterRows(filter.rows);
      this.refresh();
    }, signal);
    this.settled = debounce(() => this.afterMove(), SETTLED_MS, signal);
    this.canvas.setAttribute("aria-label", summary(header));
    this.assemble();
    connect(this.canvas, viewer, signal);
    this.follow(signal);
  }

  moved(): void {
    const { viewport, header } = this.viewer;
    const [start, end] = [viewport.start, viewport.end].map((time) => time * header.unit_ps);
    const [from, to] = [start, end].map((time) => timeWithin(time, (end - start) / 1000));
    this.visible.textContent = `${from} to ${to} (${duration(end - start)})`;
    this.refresh();
    this.minimap.follow();
    this.settled();
  }

  arranged(): void {
    this.resize();
  }

  selected(place: Place | null): void {
    this.status.textContent = this.details.show(place);
    push(this.model, "selected_event", place?.event ?? null);
    this.rangePanel.root.hidden = place !== null || this.viewer.range === null;
    if (place) this.kernel.ask("details", { event: place.event });
  }

  ranged(range: Range | null): void {
    this.minimap.follow();
    if (range) this.sumUp(range);
    else this.rangePanel.hide();
  }

  hovered(slice: number, row: Row | undefined, x: number, y: number): void {
    const { viewer } = this;
    const time = x < viewer.labels ? -1 : viewer.timeAt(x) * viewer.header.unit_ps;
    const aboutRow = row && (x < viewer.labels || row.kind === "counter");
    const lines = slice >= 0 ? sliceLines(viewer, slice) : aboutRow ? rowLines(viewer, row, time) : [];
    this.tooltip.show(lines, x, y);
  }

  toolChosen(tool: Tool): void {
    this.toolBar.show(tool);
    this.canvas.style.cursor = CURSORS[tool];
  }

  findWanted(names: Uint8Array, direction: 1 | -1): void {
    const { selection, viewport, header } = this.viewer;
    const wanted = [...names.keys()].filter((name) => names[name]);
    const start = (selection?.start ?? viewport.start) * header.unit_ps;
    const question = { names: wanted, after: selection?.event ?? -1, start_ps: Math.round(start), direction };
    this.kernel.ask("find", question);
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

  private detailsActions() {
    const { viewer } = this;
    return {
      fit: () => viewer.fitSelection(),
      step: (direction: 1 | -1) => viewer.nextOfName(direction),
      highlight: () => this.highlight(viewer.header.names[viewer.selection?.name ?? -1] ?? ""),
      close: () => viewer.select(null),
      jump: (flow: Flow) => viewer.selectTold(flow),
    };
  }

  private assemble(): void {
    const { viewer } = this;
    const toolbar = element(
      "div",
      { class: "tfp-toolbar" },
      this.toolBar.root,
      ...this.search.parts,
      this.filters.toggle,
      element(
        "div",
        { class: "tfp-group" },
        this.visible,
        button("−", "Zoom out (S)", () => viewer.zoom(1 / 2)),
        button("+", "Zoom in (W)", () => viewer.zoom(2)),
        button("All", "Show everything (0)", () => viewer.showAll()),
        button("?", "Mouse and keys (?)", () => this.helpWanted()),
      ),
    );
    this.stage.append(this.tooltip.root, this.overlay);
    const panels = [this.details.root, this.rangePanel.root, this.status, this.notice];
    this.root.append(toolbar, this.filters.root, this.minimap.canvas, this.stage, ...panels);
    for (const note of viewer.header.notes)
      this.root.append(element("p", { class: "tfp-note tfp-muted" }, note));
    viewer.chooseTool(viewer.tool);
  }

  private follow(signal: AbortSignal): void {
    const { model, viewer } = this;
    followTheme(this.root, signal, (dark) => {
      viewer.setDark(dark);
      this.minimap.redraw();
    });
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.stage);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      viewer.stop();
    });
    listen(model, "change:height", () => this.resize(), signal);
    listen(model, "change:time_range", () => this.takeRange(), signal);
    listen(model, "change:selected_event", () => this.takeEvent(), signal);
    listen(model, "change:selected_name", () => this.takeName(), signal);
    this.resize();
    this.takeRange();
    this.takeName();
    this.takeEvent();
  }

  private resize(): void {
    const { viewer, stage } = this;
    const height = Math.min(this.model.get("height"), Math.max(viewer.naturalHeight, 60));
    stage.style.height = `${height}px`;
    viewer.resize(stage.clientWidth, height);
    this.minimap.redraw();
    this.refresh();
  }

  /** Draws from the best slices that are there, as far as the filter lets them through. */
  private refresh(): void {
    const { viewer, tiles } = this;
    const best = tiles.current();
    viewer.setEvents(this.filteredOf(best.events));
    const { header, viewport } = viewer;
    this.notice.hidden = !(header.merged && best.bin > 0);
    const coarse = best.bin > viewport.length / viewport.width;
    const source = header.alone
      ? " The notebook's viewer shows them all."
      : " The kernel sends more when it is free.";
    const wait = coarse ? source : "";
    const about = `Of ${grouped(header.captured ?? header.events)} events, those shorter than`;
    this.notice.textContent = `${about} ${duration(best.bin * header.unit_ps)} are drawn merged with their neighbours.${wait}`;
  }

  private filteredOf(events: Events): Events {
    const { least_ps, onlyHits } = this.filters.filter;
    const names = onlyHits ? this.search.names : null;
    if (!least_ps && !names) {
      this.filters.tell("");
      return events;
    }
    const key = `${least_ps} ${names ? this.search.input.value : ""}`;
    if (this.filtered?.from !== events || this.filtered.key !== key) {
      const least = least_ps / this.viewer.header.unit_ps;
      const keep = (slice: number) =>
        events.duration(slice) >= least && (!names || names[events.name[slice]] === 1);
      this.filtered = { from: events, key, events: events.keep(keep) };
    }
    this.filters.tell(`${grouped(this.filtered.events.count)} of ${grouped(events.count)} shown`);
    return this.filtered.events;
  }

  private sumUp(range: Range): void {
    const { viewer, tiles } = this;
    viewer.select(null);
    const unit = viewer.header.unit_ps;
    this.status.textContent = this.rangePanel.announce(range, unit);
    if (viewer.inKernel) {
      const [start_ps, end_ps] = [Math.round(range.start * unit), Math.round(range.end * unit)];
      this.kernel.ask("totals", { start_ps, end_ps, tracks: range.tracks && [...range.tracks] });
    } else {
      this.rangePanel.show(rangeTotals(tiles.current().events, viewer.rows, range));
    }
  }

  private takeRange(): void {
    if (this.sending) return;
    const range = this.model.get("time_range");
    const unit = this.viewer.header.unit_ps;
    if (range) this.viewer.show(range[0] / unit, range[1] / unit);
    else this.viewer.showAll();
  }

  private takeEvent(): void {
    const event = this.model.get("selected_event");
    const { viewer } = this;
    if (event === (viewer.selection?.event ?? null)) return;
    const slice = event === null ? -1 : viewer.events.indexOf(event);
    if (event === null || slice >= 0) viewer.selectSlice(slice);
    else this.kernel.ask("place", { event });
  }

  private takeName(): void {
    const name = this.model.get("selected_name");
    if (name !== null) this.search.set(name, matchOp);
    else if (this.viewer.highlight && this.search.input !== document.activeElement) this.search.set("");
  }

  private highlight(name: string): void {
    push(this.model, "selected_name", name);
    this.takeName();
  }

  private dropRange(): void {
    this.viewer.setRange(null);
    this.ranged(null);
    this.canvas.focus();
  }

  private receive(answer: Answer): void {
    const { viewer } = this;
    if (answer.type === "details") {
      this.details.showStats(answer.stats, answer.flows ?? []);
      viewer.setFlows(answer.flows ?? []);
    } else if (answer.type === "source") {
      this.details.showSource(answer.line);
    } else if (answer.type === "totals") {
      const names = new Map(viewer.header.names.map((name, index) => [name, index]));
      const scale = 1e9 / viewer.header.unit_ps;
      const rows = answer.rows.map(({ name, count, total_ms, self_ms }) => {
        return { name: names.get(name) ?? -1, count, total: total_ms * scale, self: self_ms * scale };
      });
      this.rangePanel.show(rows);
    } else if (answer.type === "tile") {
      this.tiles.receive(answer.id, answer.events);
      this.refresh();
    } else if (answer.found) {
      viewer.selectTold(answer.found);
    }
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
  const events = grouped(header.captured ?? header.events);
  return `Timeline: ${events} events on ${grouped(tracks)} tracks over ${exactTime(header.span_ps)}${steps}. Press question mark for keys.`;
}
