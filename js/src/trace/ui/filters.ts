import { button, element } from "../../lib/dom";
import { TIME_UNITS } from "../../lib/format";
import type { Picoseconds } from "../../lib/units";

const UNITS = new Map<string, Picoseconds>(TIME_UNITS.map(([ps, unit]) => [unit, ps]));

/** What is left out of the view. */
export interface Filter {
  /** Rows are left out that do not have this text in their label. */
  rows: string;
  /** Shorter events are left out. */
  shortest_ps: Picoseconds;
  /** Events are left out that the search does not find. */
  onlyHits: boolean;
}

/** A duration as it is typed ("10 us"); 0 for an empty text, NaN for anything else. */
export function parseDuration(text: string): Picoseconds {
  if (!text.trim()) return 0;
  const [, number, unit = ""] = /^\s*([\d.]+)\s*(ps|ns|us|µs|ms|s)\s*$/i.exec(text) ?? [];
  return Number(number) * (UNITS.get(unit.toLowerCase().replace("u", "µ")) ?? Number.NaN);
}

/** The fields that the Filter button opens. */
export class Filters {
  readonly toggle = button("Filter", "Filter by track, duration or name", () => this.flip());
  private readonly rows = field("Track name contains", "any");
  private readonly shortest = field("Minimum duration", "e.g. 10 us");
  private readonly hits = element("input", { type: "checkbox" });
  private readonly summary = element("span", { class: "tfp-muted", role: "status" });
  readonly root = element("div", { class: "tfp-filters", hidden: true });

  constructor(
    private readonly onChange: (filter: Filter) => void,
    signal: AbortSignal,
  ) {
    const hits = element("label", { class: "tfp-field" }, this.hits, "Search hits only");
    const reset = button("Reset", "Reset: show everything again", () => this.reset());
    this.root.append(this.rows.label, this.shortest.label, hits, reset, this.summary);
    for (const input of [this.rows.input, this.shortest.input, this.hits]) {
      input.addEventListener("input", () => this.change(), { signal });
      input.addEventListener("keydown", (event) => event.stopPropagation(), { signal });
    }
    this.toggle.setAttribute("aria-expanded", "false");
  }

  get filter(): Filter {
    const shortest = parseDuration(this.shortest.input.value);
    return {
      rows: this.rows.input.value,
      shortest_ps: Number.isNaN(shortest) ? 0 : shortest,
      onlyHits: this.hits.checked,
    };
  }

  /** Says how much passes the filter. */
  summarize(text: string): void {
    this.summary.textContent = text;
  }

  private flip(): void {
    const open = !!this.root.hidden;
    this.root.hidden = !open;
    this.toggle.setAttribute("aria-expanded", String(open));
    if (open) this.rows.input.focus();
  }

  private reset(): void {
    this.rows.input.value = this.shortest.input.value = "";
    this.hits.checked = false;
    this.change();
  }

  private change(): void {
    const { rows, shortest_ps, onlyHits } = this.filter;
    const invalid = Number.isNaN(parseDuration(this.shortest.input.value));
    this.shortest.input.setAttribute("aria-invalid", String(invalid));
    const active = [rows.trim(), shortest_ps, onlyHits].filter(Boolean).length;
    this.toggle.textContent = active ? `Filter (${active})` : "Filter";
    this.onChange(this.filter);
  }
}

function field(name: string, placeholder: string): { label: HTMLLabelElement; input: HTMLInputElement } {
  const input = element("input", { type: "text", class: "tfp-input", placeholder, size: 14 });
  return { input, label: element("label", { class: "tfp-field" }, name, input) };
}
