import { button, element, OWN_KEYS } from "../../lib/dom";
import { TIME_UNITS } from "../../lib/format";

const PS = Object.fromEntries(TIME_UNITS.map(([ps, unit]) => [unit, ps]));

/** What to leave out of the picture. */
export interface Filter {
  /** Rows without this text in their label. */
  rows: string;
  /** Events shorter than this, in picoseconds. */
  least_ps: number;
  /** Events that the search does not hit. */
  onlyHits: boolean;
}

/** A duration as people type it, "10 us", in picoseconds; 0 for nothing, NaN for what is none. */
export function parseDuration(text: string): number {
  if (!text.trim()) return 0;
  const match = /^\s*([\d.]+)\s*(ps|ns|us|µs|ms|s)\s*$/i.exec(text);
  return match ? Number(match[1]) * PS[match[2].toLowerCase().replace("u", "µ")] : Number.NaN;
}

/** The row of fields that the Filter button opens. */
export class Filters {
  readonly toggle = button("Filter", "Filter by track, duration or name", () => this.flip());
  private readonly rows = field("Tracks with", "any name");
  private readonly least = field("Events from", "any, e.g. 10 us");
  private readonly hits = element("input", { ...OWN_KEYS, type: "checkbox" });
  private readonly left = element("span", { class: "tfp-muted", role: "status" });
  readonly root = element("div", { class: "tfp-filters", hidden: true });

  constructor(
    private readonly onChange: (filter: Filter) => void,
    signal: AbortSignal,
  ) {
    const hits = element("label", { class: "tfp-field" }, this.hits, "only hits of the search");
    const reset = button("Reset", "Show everything again", () => this.reset());
    this.root.append(this.rows.label, this.least.label, hits, reset, this.left);
    for (const input of [this.rows.input, this.least.input, this.hits]) {
      input.addEventListener("input", () => this.change(), { signal });
      input.addEventListener("keydown", (event) => event.stopPropagation(), { signal });
    }
    this.toggle.setAttribute("aria-expanded", "false");
  }

  get filter(): Filter {
    const least = parseDuration(this.least.input.value);
    return {
      rows: this.rows.input.value,
      least_ps: Number.isNaN(least) ? 0 : least,
      onlyHits: this.hits.checked,
    };
  }

  /** Says what is left. */
  tell(text: string): void {
    this.left.textContent = text;
  }

  private flip(): void {
    const open = !!this.root.hidden;
    this.root.hidden = !open;
    this.toggle.setAttribute("aria-expanded", String(open));
    if (open) this.rows.input.focus();
  }

  private reset(): void {
    this.rows.input.value = this.least.input.value = "";
    this.hits.checked = false;
    this.change();
  }

  private change(): void {
    const { rows, least_ps, onlyHits } = this.filter;
    const bad = Number.isNaN(parseDuration(this.least.input.value));
    this.least.input.setAttribute("aria-invalid", String(bad));
    const active = [rows.trim(), least_ps, onlyHits].filter(Boolean).length;
    this.toggle.textContent = active ? `Filter (${active})` : "Filter";
    this.onChange(this.filter);
  }
}

function field(name: string, placeholder: string): { label: HTMLLabelElement; input: HTMLInputElement } {
  const input = element("input", { ...OWN_KEYS, type: "text", class: "tfp-input", placeholder, size: 14 });
  return { input, label: element("label", { class: "tfp-field" }, name, input) };
}
