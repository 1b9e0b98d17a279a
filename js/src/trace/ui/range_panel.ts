import { button, element, OWN_KEYS } from "../../lib/dom";
import { duration, grouped } from "../../lib/format";
import type { Range, RangeTotal } from "../range";
import { timeWithin } from "../time_labels";

const MOST_ROWS = 100;
type Key = "name" | "count" | "total" | "self" | "average";
type Told = RangeTotal & { average: number; text: string };
const COLUMNS: [Key, string][] = [
  ["name", "Name"],
  ["count", "Count"],
  ["total", "Total"],
  ["self", "Self"],
  ["average", "Average"],
];

/** What can be done from the panel. */
export interface RangeActions {
  fit(): void;
  clear(): void;
  highlight(name: string): void;
}

/** The panel that says what ran in the selected range. */
export class RangePanel {
  readonly root = element("section", {
    class: "tfp-selection",
    "aria-label": "Selected range",
    hidden: true,
  });
  private readonly body = element("div", { class: "tfp-range" });
  private readonly title = element("strong", { class: "tfp-name" });
  private rows: Told[] = [];
  private by: Key = "self";
  private unit = 1;

  constructor(
    private readonly names: readonly string[],
    private readonly actions: RangeActions,
  ) {
    const head = element(
      "div",
      { class: "tfp-details-head" },
      this.title,
      button("Fit", "Fit the range into the view (F)", () => actions.fit()),
      button("×", "Clear the range (Esc)", () => actions.clear()),
    );
    this.root.append(head, this.body);
  }

  hide(): void {
    this.root.hidden = true;
  }

  /** Shows a range without numbers yet. Returns its title. */
  announce({ start, end, tracks }: Range, unit: number): string {
    this.unit = unit;
    const [length, precision] = [(end - start) * unit, ((end - start) * unit) / 1000];
    const [from, to] = [start, end].map((time) => timeWithin(time * unit, precision));
    const where = tracks ? `${tracks.size} ${tracks.size === 1 ? "track" : "tracks"}` : "all tracks";
    this.title.textContent = `${duration(length)} selected: ${from} to ${to}, ${where}`;
    this.root.hidden = false;
    this.body.replaceChildren(
      element("p", { class: "tfp-muted" }, "Waiting for the kernel to add up what is merged here …"),
    );
    return this.title.textContent;
  }

  show(totals: RangeTotal[]): void {
    this.rows = totals.map((row) => ({ ...row, average: row.total / row.count, text: this.names[row.name] }));
    this.fill();
  }

  private fill(): void {
    if (this.rows.length === 0) {
      this.body.replaceChildren(element("p", { class: "tfp-muted" }, "Nothing ran there."));
      return;
    }
    const { by } = this;
    const ordered = [...this.rows].sort((a, b) =>
      by === "name" ? a.text.localeCompare(b.text) : b[by] - a[by],
    );
    const head = element("tr", {}, ...COLUMNS.map(([key, title]) => this.header(key, title)));
    const body = element("tbody", {}, ...ordered.slice(0, MOST_ROWS).map((row) => this.row(row)));
    this.body.replaceChildren(element("table", {}, element("thead", {}, head), body));
    const more = ordered.length - MOST_ROWS;
    if (more > 0) this.body.append(element("p", { class: "tfp-muted" }, `and ${grouped(more)} more names`));
  }

  private header(key: Key, title: string): HTMLElement {
    const sort = element(
      "button",
      { ...OWN_KEYS, type: "button", title: `Order by ${title.toLowerCase()}` },
      title,
    );
    sort.addEventListener("click", () => {
      this.by = key;
      this.fill();
      this.root.querySelector<HTMLElement>("th[aria-sort] button")?.focus();
    });
    const order = key === "name" ? "ascending" : "descending";
    return element("th", { scope: "col", ...(key === this.by ? { "aria-sort": order } : {}) }, sort);
  }

  private row({ text, count, total, self, average }: Told): HTMLElement {
    const name = element("button", { ...OWN_KEYS, type: "button", title: `Highlight ${text}` }, text);
    name.addEventListener("click", () => this.actions.highlight(text));
    const times = [total, self, average].map((time) =>
      element("td", {}, duration(Math.round(time * this.unit))),
    );
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, grouped(count)),
      ...times,
    );
  }
}
