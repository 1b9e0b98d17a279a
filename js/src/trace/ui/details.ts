import { button, element } from "../../lib/dom";
import { duration, grouped, middleCut } from "../../lib/format";
import type { Flow } from "../data/header";
import type { Place } from "../data/slices";
import { relation } from "../draw/flows";
import type { Viewer } from "../state";
import { exactTime } from "../time_labels";

// What the panel says already, in words.
const KNOWN = new Set(["name", "start_ps", "duration_ps"]);
const LATE_MS = 1500;
const LINK_LETTERS = 64;

export type Stats = Record<string, unknown>;

/** What can be done from the panel. */
export interface DetailsActions {
  fit(): void;
  step(direction: 1 | -1): void;
  highlight(): void;
  close(): void;
  jump(flow: Flow): void;
}

/** The panel that describes the selected event. Stats come from the kernel later, or never. */
export class Details {
  readonly root = element("section", { class: "tfp-details", "aria-label": "Selected event", hidden: true });
  private readonly inView = element("dd");
  private readonly stats = element("div");
  private readonly list = element("dl");
  private place: Place | null = null;
  private late: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly viewer: Viewer,
    private readonly actions: DetailsActions,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => clearTimeout(this.late));
  }

  /** Shows an event, or hides the panel. Returns a sentence that says the same. */
  show(place: Place | null): string {
    this.place = place;
    this.root.hidden = !place;
    this.stats.replaceChildren();
    clearTimeout(this.late);
    if (!place) return "Nothing is selected.";
    const facts = this.facts(place);
    const list = element("dl", {}, ...terms(facts));
    list.append(element("dt", {}, "Same name in view"), this.inView);
    this.root.replaceChildren(
      this.heading(place),
      element("div", { class: "tfp-details-body" }, list, this.stats),
    );
    this.update();
    if (!this.viewer.header.alone) this.late = setTimeout(() => this.sayLate(), LATE_MS);
    return [this.nameOf(place), ...facts.map(([term, value]) => `${term} ${value}`)].join(", ");
  }

  /** Recounts the events of the same name, after the visible range changed. */
  update(): void {
    if (!this.place) return;
    const { events, viewport, header } = this.viewer;
    const { count, total } = events.totals(this.place.name, viewport.start, viewport.end);
    const about = header.merged ? "about " : "";
    const times = count
      ? `, total ${about}${duration(total * header.unit_ps)}, mean ${about}${duration((total / count) * header.unit_ps)}`
      : "";
    this.inView.textContent = `${about}${grouped(count)} ${count === 1 ? "event" : "events"}${times}`;
  }

  /** Shows what the kernel tells of the event. */
  showStats(stats: Stats, flows: Flow[]): void {
    clearTimeout(this.late);
    const told = Object.entries(stats).filter(([key]) => !KNOWN.has(key));
    this.list.replaceChildren(...terms(told.map(([key, value]) => [key, asText(value)])));
    this.stats.replaceChildren(...this.links(flows), this.list);
  }

  /** Shows the line of code that the event comes from, if it is known. */
  showSource(line: string): void {
    if (line) this.list.prepend(element("dt", {}, "Source"), element("dd", { class: "tfp-code" }, line));
  }

  private sayLate(): void {
    const text = "The kernel is busy or gone: what else it knows of this event shows when it answers.";
    this.stats.replaceChildren(element("p", { class: "tfp-muted" }, text));
  }

  private links(flows: Flow[]): HTMLElement[] {
    if (flows.length === 0) return [];
    const { header } = this.viewer;
    const list = element("dl");
    for (const flow of flows) {
      const track = header.tracks[flow.track];
      const where = `${duration(flow.duration_ps)} on ${track.label}`;
      const jump = button(middleCut(header.names[flow.name], LINK_LETTERS), `Go to it: ${where}`, () =>
        this.actions.jump(flow),
      );
      jump.classList.add("tfp-link");
      list.append(
        element("dt", {}, relation(flow)),
        element("dd", {}, jump, element("span", { class: "tfp-muted" }, ` ${where}`)),
      );
    }
    return [list];
  }

  private nameOf(place: Place): string {
    return this.viewer.header.names[place.name];
  }

  private heading(place: Place): HTMLElement {
    const { actions } = this;
    return element(
      "div",
      { class: "tfp-details-head" },
      element("strong", { class: "tfp-name", title: this.nameOf(place) }, this.nameOf(place)),
      button("‹", "Previous event of this name (left arrow)", () => actions.step(-1)),
      button("›", "Next event of this name (right arrow)", () => actions.step(1)),
      button("Fit", "Fit this event into the view (F)", () => actions.fit()),
      button("Highlight", "Highlight all events of this name", () => actions.highlight()),
      button("×", "Close (Esc)", () => actions.close()),
    );
  }

  private facts(place: Place): [string, string][] {
    const { header, rows } = this.viewer;
    const track = header.tracks[rows.trackOf(place.lane)];
    const start = place.start * header.unit_ps;
    const step = header.steps.find((s) => start >= s.start_ps && start < s.start_ps + s.duration_ps);
    const zoom = header.alone ? "" : "; zoom in to part them";
    const merged = `${grouped(place.merged)} short events drawn as one, the longest of this name${zoom}`;
    return [
      ...(place.merged > 1 ? [["Merged", merged] as [string, string]] : []),
      [place.merged > 1 ? "Span" : "Duration", duration(place.duration * header.unit_ps)],
      ["Start", exactTime(start)],
      ["Track", `${header.groups[track.group].label} / ${track.label}`],
      ["Depth", String(rows.depthOf(place.lane) + 1)],
      ...(step ? [["Step", String(step.step)] as [string, string]] : []),
    ];
  }
}

function terms(pairs: [string, string][]): HTMLElement[] {
  return pairs.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]);
}

function asText(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
  return typeof value === "string" ? value : JSON.stringify(value);
}
