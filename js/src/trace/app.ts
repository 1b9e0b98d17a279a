import { button, debounce, element } from "../lib/dom";
import { enlarger } from "../lib/enlarge";
import { duration, grouped } from "../lib/format";
import { listen, type Model } from "../lib/host";
import { followTheme } from "../lib/theme";
import { type CssPx, toPicoseconds } from "../lib/units";
import type { Header } from "./data/header";
import { named, rangeTotals } from "./data/range_totals";
import type { Slice, Slices } from "./data/slices";
import { Tiles } from "./data/tiles";
import { Drag, type Tool } from "./drag";
import { Painter } from "./draw/painter";
import { Kernel } from "./kernel";
import { connectKeyboard } from "./keyboard";
import { Navigation } from "./navigation";
import { connectPointer } from "./pointer";
import { RangeSelection, type SelectedRange } from "./range";
import { ShownSlices } from "./shown_slices";
import { State, type StateListener } from "./state";
import { rangeEnds } from "./time_labels";
import { LinkedTraits, type Traits } from "./traits";
import { Details } from "./ui/details";
import { Filters } from "./ui/filters";
import { helpOverlay } from "./ui/help";
import { Minimap } from "./ui/minimap";
import { RangePanel } from "./ui/range_panel";
import { Search } from "./ui/search";
import { CURSORS, Toolbar } from "./ui/toolbar";
import { describe, Tooltip } from "./ui/tooltip";

const SETTLED_MS = 150;
const MIN_HEIGHT_PX = 60;
const MARGIN_PX = 18; // around what fills the screen

/** The trace viewer as the user sees it: makes its parts and connects them. */
export class App implements StateListener {
  private readonly canvas = element("canvas", {
    class: "tfp-canvas",
    tabindex: 0,
    role: "application",
  });
  private readonly stage = element("div", { class: "tfp-stage" }, this.canvas);
  private readonly status = element("div", { class: "tfp-hidden", role: "status", "aria-live": "polite" });
  private readonly visible = element("span", { class: "tfp-muted tfp-push" });
  private readonly tooltip = new Tooltip();
  private readonly help = helpOverlay(() => this.toggleHelp());
  private readonly toolbar = new Toolbar((tool) => this.chooseTool(tool));
  private readonly state: State;
  private readonly painter: Painter;
  private readonly kernel: Kernel;
  private readonly navigation: Navigation;
  private readonly ranges: RangeSelection;
  private readonly tiles: Tiles;
  private readonly shown: ShownSlices;
  private readonly minimap: Minimap;
  private readonly details: Details;
  private readonly rangePanel: RangePanel;
  private readonly search: Search;
  private readonly filters: Filters;
  private readonly traits: LinkedTraits;
  private readonly settled: () => void;

  constructor(
    private readonly root: HTMLElement,
    private readonly model: Model<Traits>,
    slices: Slices,
    signal: AbortSignal,
  ) {
    const header = model.get("header");
    const state = new State(header, slices, this);
    this.state = state;
    this.painter = new Painter(this.canvas, state, () => this.describePointed());
    this.kernel = new Kernel(model, signal);
    this.navigation = new Navigation(state, this.kernel);
    this.ranges = new RangeSelection(state);
    this.minimap = new Minimap(state, slices, this.navigation, signal);
    this.details = new Details(state, this.navigation, (name) => this.traits.highlight(name), signal);
    this.rangePanel = new RangePanel(header, {
      fit: () => this.navigation.fitSelection(),
      clear: () => this.clearRange(),
      highlight: (name) => this.traits.highlight(name),
    });
    this.search = this.searchBox(signal);
    this.filters = new Filters(({ rows }) => this.filter(rows), signal);
    this.tiles = new Tiles(header, state.viewport, slices, this.kernel, () => this.shown.update(), signal);
    this.shown = new ShownSlices(state, this.tiles, this.filters, this.search);
    this.traits = new LinkedTraits(model, state, this.navigation, this.search);
    this.settled = debounce(() => this.afterMove(), SETTLED_MS, signal);
    this.assemble(enlarger(root, () => this.arranged(), signal));
    this.connect(signal);
    this.follow(signal);
  }

  changed(): void {
    this.painter.invalidate();
  }

  moved(): void {
    const { viewport, header } = this.state;
    const start = toPicoseconds(viewport.start, header.unit_ps);
    const end = toPicoseconds(viewport.end, header.unit_ps);
    this.visible.textContent = `${rangeEnds(start, end)} (${duration(end - start)})`;
    this.shown.update();
    this.minimap.follow();
    this.settled();
  }

  arranged(): void {
    const room = this.root.classList.contains("tfp-large")
      ? this.stage.offsetHeight + innerHeight - MARGIN_PX - heightOf([...this.root.children])
      : this.model.get("height");
    const height = Math.min(room, Math.max(this.state.naturalHeight, MIN_HEIGHT_PX));
    this.stage.style.height = `${height}px`;
    this.state.resize(this.stage.clientWidth, height);
    this.minimap.redraw();
    this.shown.update();
  }

  selected(slice: Slice | null): void {
    this.status.textContent = this.details.show(slice);
    this.traits.sendEvent(slice?.event ?? null);
    this.search.at(this.hitAt(slice));
    this.rangePanel.root.hidden = slice !== null || this.state.range === null;
    if (slice) this.askForDetails(slice.event);
  }

  /** At which of the search's hits a slice is; null for no hit, and where only the kernel has every single event. */
  private hitAt(slice: Slice | null): number | null {
    const { names } = this.search;
    if (!slice || !names?.[slice.name] || this.state.needsKernel) return null;
    return this.state.slices.rank(slice.event, slice.start, names);
  }

  rangeSettled(range: SelectedRange | null): void {
    this.minimap.follow();
    if (range) this.sumUp(range);
    else this.rangePanel.hide();
  }

  private searchBox(signal: AbortSignal): Search {
    const actions = {
      highlight: (names: Uint8Array | null) => {
        this.state.setHighlight(names);
        const hits = this.state.highlight?.sums.at(-1) ?? 0;
        this.shown.update();
        return hits;
      },
      nextMatch: (names: Uint8Array, direction: 1 | -1) => this.navigation.nextMatch(names, direction),
      typed: () => this.traits.sendName(null),
      left: (before: EventTarget | null) => this.focusAgain(before),
    };
    return new Search(this.state.header, actions, signal);
  }

  /** Gives the focus back to where it was before, a notebook cell perhaps. */
  private focusAgain(before: EventTarget | null): void {
    const outside = before instanceof HTMLElement && before.isConnected && !this.root.contains(before);
    (outside ? before : this.canvas).focus({ preventScroll: true });
  }

  private assemble(enlarge: HTMLElement[]): void {
    const { navigation } = this;
    const { header, tool } = this.state;
    const zoom = element(
      "div",
      { class: "tfp-group" },
      this.visible,
      button("−", "Zoom out (S)", () => navigation.zoom(1 / 2)),
      button("+", "Zoom in (W)", () => navigation.zoom(2)),
      button("All", "All: show everything (0)", () => navigation.showAll()),
      ...enlarge,
      button("?", "Mouse and keys (?)", () => this.toggleHelp()),
    );
    const tools = [this.toolbar.root, ...this.search.parts, this.filters.toggle, zoom];
    const shown = element("div", { class: "tfp-shown" }, this.stage, this.details.root);
    const panels = [this.rangePanel.root, this.status, this.shown.notice];
    this.stage.append(this.tooltip.root, this.help);
    this.root.append(element("div", { class: "tfp-toolbar" }, ...tools), this.filters.root);
    this.root.append(this.minimap.canvas, shown, ...panels);
    this.canvas.setAttribute("aria-label", summary(header));
    this.chooseTool(tool);
  }

  /** Connects the viewer with what the pointer and the keys do. */
  private connect(signal: AbortSignal): void {
    const { canvas, navigation, ranges, state } = this;
    const pointer = {
      hover: (x: CssPx, y: CssPx) => this.hover(x, y),
      startDrag: (x: CssPx, y: CssPx, shift: boolean) =>
        new Drag(navigation, ranges, shift ? "zoom" : state.tool, x, y),
    };
    const keys = {
      chooseTool: (tool: Tool) => this.chooseTool(tool),
      mark: () => ranges.mark(),
      search: () => this.search.input.focus(),
      help: () => this.toggleHelp(),
      escape: () => this.escape(),
    };
    connectPointer(canvas, navigation, pointer, signal);
    connectKeyboard(this.root, navigation, keys, signal);
  }

  /** Follows the page and the kernel. */
  private follow(signal: AbortSignal): void {
    followTheme(this.root, signal, (dark) => {
      this.state.setDark(dark);
      this.minimap.redraw();
    });
    const observer = new ResizeObserver(() => this.arranged());
    observer.observe(this.stage);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.painter.stop();
    });
    listen(this.model, "change:height", () => this.arranged(), signal);
    this.arranged();
    this.traits.follow(signal);
  }

  private chooseTool(tool: Tool): void {
    this.state.tool = tool;
    this.toolbar.show(tool);
    this.canvas.style.cursor = CURSORS[tool];
  }

  private hover(x: CssPx, y: CssPx): void {
    this.navigation.hover(x, y);
    this.describePointed();
  }

  private describePointed(): void {
    const { hovered, pointer } = this.state;
    this.tooltip.show(describe(this.state, hovered, pointer.x, pointer.y), pointer.x, pointer.y);
  }

  private toggleHelp(): void {
    const focused = this.help.contains(document.activeElement);
    this.help.hidden = !this.help.hidden;
    if (focused) this.canvas.focus({ preventScroll: true });
  }

  /** Closes the help, else clears the selection, else the range, else the search. */
  private escape(): void {
    if (!this.help.hidden) this.toggleHelp();
    else if (this.state.selection) this.navigation.select(null);
    else if (this.state.range) this.ranges.clear();
    else {
      this.search.set("");
      this.traits.sendName(null);
    }
  }

  private clearRange(): void {
    this.ranges.clear();
    this.canvas.focus();
  }

  private filter(rows: string): void {
    this.state.arrange((all) => all.filter(rows));
    this.shown.update();
  }

  private askForDetails(event: number): void {
    this.kernel.ask("details", { event }, (answer) => {
      if (answer.type === "source") this.details.showSource(answer.line);
      else {
        const flows = answer.flows ?? [];
        this.details.showStats(answer.stats, flows);
        this.state.setFlows(flows);
      }
    });
  }

  /** Shows what ran in a range; merged events are added up by the kernel, as soon as it is free. */
  private sumUp(range: SelectedRange): void {
    const { header, rows, needsKernel } = this.state;
    this.navigation.select(null);
    this.status.textContent = this.rangePanel.announce(range);
    if (needsKernel)
      this.kernel.askForTotals(range, header.unit_ps, (totals) => this.rangePanel.show(totals));
    else this.rangePanel.show(named(rangeTotals(this.tiles.current().slices, rows, range), header));
  }

  private afterMove(): void {
    this.traits.sendRange();
    this.details.update();
  }
}

function summary(header: Header): string {
  const tracks = header.tracks.filter((track) => track.depths.some((slices) => slices > 0)).length;
  const steps = header.steps.length ? `, ${grouped(header.steps.length)} steps` : "";
  const events = grouped(header.captured ?? header.events);
  return `Timeline: ${events} events on ${grouped(tracks)} tracks over ${duration(header.span_ps)}${steps}. Press question mark for keys.`;
}

function heightOf(parts: Element[]): CssPx {
  return parts.reduce((sum, part) => sum + part.getBoundingClientRect().height, 0);
}
