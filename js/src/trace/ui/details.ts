import { at } from "../../lib/at";
import { button, element } from "../../lib/dom";
import { duration, grouped, middleCut } from "../../lib/format";
import { type TraceTime, toPicoseconds } from "../../lib/units";
import type { EventLocation, Flow, Header } from "../data/header";
import type { Slice, Totals } from "../data/slices";
import { stepDuring } from "../hit_test";
import type { Stats } from "../kernel";
import type { Rows } from "../rows";
import { exactTime, timeInView } from "../time_labels";
import type { Viewport } from "../viewport";

// The panel shows these already.
const SHOWN_STATS = new Set(["name", "start_ps", "duration_ps"]);
const LATE_MS = 1500;
const LINK_LETTERS = 64;

/** What the panel needs to know. */
export interface DetailsSource {
  readonly header: Header;
  readonly rows: Pick<Rows, "trackOf" | "depthOf">;
  readonly viewport: Pick<Viewport, "length">;
  /** The events of a name in the visible range. */
  totalsInView(name: number): Totals;
}

/** What can be done from the panel, besides highlighting. */
export interface DetailsActions {
  fitSelection(): void;
  nextOfName(direction: 1 | -1): void;
  select(slice: null): void;
  selectAt(location: EventLocation): void;
}

/** The panel that describes the selected event. The stats come from the kernel later, or never. */
export class Details {
  readonly root = element("section", { class: "tfp-details", "aria-label": "Selected event", hidden: true });
  private readonly inView = element("dd");
  private readonly start = element("dd");
  private readonly stats = element("div");
  private readonly list = element("dl");
  private slice: Slice | null = null;
  private late: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly source: DetailsSource,
    private readonly actions: DetailsActions,
    private readonly highlight: (name: string) => void,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => clearTimeout(this.late));
  }

  /** Shows a slice, or hides the panel. Returns the same as a sentence. */
  show(slice: Slice | null): string {
    this.slice = slice;
    this.root.hidden = !slice;
    this.stats.replaceChildren();
    clearTimeout(this.late);
    if (!slice) return "Nothing is selected.";
    const facts = this.facts(slice);
    const list = element("dl");
    for (const [term, value] of facts) list.append(element("dt", {}, term), value);
    this.root.replaceChildren(
      this.heading(slice),
      element("div", { class: "tfp-details-body" }, list, this.stats),
    );
    this.update();
    if (!this.source.header.alone) this.late = setTimeout(() => this.explainDelay(), LATE_MS);
    const said = facts.slice(0, -1).map(([term, value]) => `${term} ${value.textContent}`);
    return [this.nameOf(slice), ...said].join(", ");
  }

  /** Writes anew what depends on the visible range. */
  update(): void {
    if (!this.slice) return;
    const { header, viewport } = this.source;
    const start = toPicoseconds(this.slice.start, header.unit_ps);
    this.start.textContent = timeInView(start, toPicoseconds(viewport.length, header.unit_ps));
    const { count, total } = this.source.totalsInView(this.slice.name);
    const about = header.merged ? "about " : "";
    const written = (time: TraceTime) => about + duration(toPicoseconds(time, header.unit_ps));
    const times = count ? `, total ${written(total)}, mean ${written(total / count)}` : "";
    this.inView.textContent = `${about}${grouped(count)} ${count === 1 ? "event" : "events"}${times}`;
  }

  /** Shows what only the kernel knows about the event. */
  showStats(stats: Stats, flows: Flow[]): void {
    clearTimeout(this.late);
    const more = Object.entries(stats).filter(([key]) => !SHOWN_STATS.has(key));
    this.list.replaceChildren(...terms(more.map(([key, value]) => [key, asText(value)])));
    this.stats.replaceChildren(...this.links(flows), this.list);
  }

  /** Shows the line of code that the event comes from, if it is known. */
  showSource(line: string): void {
    if (line) this.list.prepend(element("dt", {}, "Source"), element("dd", { class: "tfp-code" }, line));
  }

  private explainDelay(): void {
    const text = "The kernel is busy or gone. More details appear here if it answers.";
    this.stats.replaceChildren(element("p", { class: "tfp-muted" }, text));
  }

  private links(flows: Flow[]): HTMLElement[] {
    if (flows.length === 0) return [];
    const { header } = this.source;
    const list = element("dl");
    for (const flow of flows) {
      const where = `${duration(flow.duration_ps)} on ${at(header.tracks, flow.track).label}`;
      const name = middleCut(at(header.names, flow.name), LINK_LETTERS);
      const jump = button(name, `Go to it: ${where}`, () => this.actions.selectAt(flow));
      jump.classList.add("tfp-link");
      const beside = element("span", { class: "tfp-muted" }, ` ${where}`);
      list.append(element("dt", {}, relation(flow)), element("dd", {}, jump, beside));
    }
    return [list];
  }

  private nameOf(slice: Slice): string {
    return at(this.source.header.names, slice.name);
  }

  private heading(slice: Slice): HTMLElement {
    const { actions } = this;
    const name = this.nameOf(slice);
    return element(
      "div",
      { class: "tfp-details-head" },
      element("strong", { class: "tfp-name", title: name }, name),
      button("‹", "Previous event of this name (left arrow)", () => actions.nextOfName(-1)),
      button("›", "Next event of this name (right arrow)", () => actions.nextOfName(1)),
      button("Fit", "Fit this event into the view (F)", () => actions.fitSelection()),
      button("Highlight", "Highlight all events of this name", () => this.highlight(name)),
      button("×", "Close (Esc)", () => actions.select(null)),
    );
  }

  /** What the panel says of a slice; times in full are titles. */
  private facts(slice: Slice): Fact[] {
    const { header, rows } = this.source;
    const track = at(header.tracks, rows.trackOf(slice.lane));
    const start = toPicoseconds(slice.start, header.unit_ps);
    const step = stepDuring(header.steps, start);
    const zoom = header.alone ? "" : "; zoom in to separate them";
    const merged = `${grouped(slice.events)} short events drawn as one, named after the longest${zoom}`;
    const length = toPicoseconds(slice.duration, header.unit_ps);
    this.start.title = exactTime(start);
    return [
      ...(slice.events > 1 ? [fact("Merged", merged)] : []),
      fact(slice.events > 1 ? "Span" : "Duration", duration(length), exactTime(length)),
      ["Start", this.start],
      fact("Track", `${at(header.groups, track.group).label} / ${track.label}`),
      fact("Depth", String(rows.depthOf(slice.lane) + 1)),
      ...(step ? [fact("Step", String(step.step))] : []),
      ["Same name in view", this.inView],
    ];
  }
}

/** A term and the element with its value. */
type Fact = [string, HTMLElement];

function fact(term: string, text: string, title = ""): Fact {
  return [term, element("dd", { title: title || false }, text)];
}

/** What a link is called, seen from the selected event. */
function relation({ direction, kind }: Flow): string {
  if (kind === "launch") return direction === "from" ? "Launched by" : "Launches";
  return direction === "from" ? `Caused by (${kind})` : `Causes (${kind})`;
}

function terms(pairs: [string, string][]): HTMLElement[] {
  return pairs.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]);
}

function asText(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
  return typeof value === "string" ? value : JSON.stringify(value);
}
