import { button, element } from "../lib/dom";
import { duration, grouped } from "../lib/format";
import { exactTime } from "./ruler";
import type { Viewer } from "./viewer";

// What the panel says already, in words.
const KNOWN = new Set(["name", "start_ps", "duration_ps"]);

export type Stats = Record<string, unknown>;

/** What can be done from the panel. */
export interface DetailsActions {
  fit(): void;
  step(direction: 1 | -1): void;
  highlight(): void;
  close(): void;
}

/** The panel that describes the selected event. Stats come from the kernel later, or never. */
export class Details {
  readonly root = element("section", { class: "tfp-details", "aria-label": "Selected event", hidden: true });
  private readonly inView = element("dd");
  private readonly stats = element("dl");
  private event = -1;

  constructor(
    private readonly viewer: Viewer,
    private readonly actions: DetailsActions,
  ) {}

  /** Shows an event, or hides the panel (-1). Returns a sentence that says the same. */
  show(event: number): string {
    this.event = event;
    this.root.hidden = event < 0;
    this.stats.replaceChildren();
    if (event < 0) return "Nothing is selected.";
    const facts = this.facts(event);
    const list = element("dl");
    for (const [term, value] of facts) list.append(element("dt", {}, term), element("dd", {}, value));
    list.append(element("dt", {}, "Same name in view"), this.inView);
    this.root.replaceChildren(
      this.heading(event),
      element("div", { class: "tfp-details-body" }, list, this.stats),
    );
    this.update();
    return [this.nameOf(event), ...facts.map(([term, value]) => `${term} ${value}`)].join(", ");
  }

  /** Recounts the events of the same name, after the visible range changed. */
  update(): void {
    if (this.event < 0) return;
    const { events, viewport, header } = this.viewer;
    const { count, total } = events.totals(events.name[this.event], viewport.start, viewport.end);
    const times = count
      ? `, total ${duration(total * header.unit_ps)}, mean ${duration((total / count) * header.unit_ps)}`
      : "";
    this.inView.textContent = `${grouped(count)} ${count === 1 ? "event" : "events"}${times}`;
  }

  showStats(stats: Stats): void {
    this.stats.replaceChildren();
    for (const [key, value] of Object.entries(stats)) {
      if (KNOWN.has(key)) continue;
      this.stats.append(element("dt", {}, key), element("dd", {}, asText(value)));
    }
  }

  private nameOf(event: number): string {
    return this.viewer.header.names[this.viewer.events.name[event]];
  }

  private heading(event: number): HTMLElement {
    const { actions } = this;
    return element(
      "div",
      { class: "tfp-details-head" },
      element("strong", { class: "tfp-name" }, this.nameOf(event)),
      button("‹", "Previous event of this name (left arrow)", () => actions.step(-1)),
      button("›", "Next event of this name (right arrow)", () => actions.step(1)),
      button("Fit", "Fit this event into the view (F)", () => actions.fit()),
      button("Highlight", "Highlight all events of this name", () => actions.highlight()),
      button("×", "Close (Esc)", () => actions.close()),
    );
  }

  private facts(event: number): [string, string][] {
    const { events, header, rows } = this.viewer;
    const lane = events.laneOf(event);
    const track = header.tracks[rows.trackOf(lane)];
    const start = events.start[event] * header.unit_ps;
    const step = header.steps.find((s) => start >= s.start_ps && start < s.start_ps + s.duration_ps);
    const facts: [string, string][] = [
      ["Duration", duration(events.duration(event) * header.unit_ps)],
      ["Start", exactTime(start)],
      ["Track", `${header.groups[track.group].label} / ${track.label}`],
      ["Depth", String(rows.depthOf(lane) + 1)],
    ];
    return step ? [...facts, ["Step", String(step.step)]] : facts;
  }
}

function asText(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
  return typeof value === "string" ? value : JSON.stringify(value);
}
