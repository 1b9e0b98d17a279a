import { button, element } from "../../lib/dom";
import { duration, grouped } from "../../lib/format";
import { type Picoseconds, toPicoseconds } from "../../lib/units";
import type { Header } from "../data/header";
import type { NameTotals } from "../data/range_totals";
import type { SelectedRange } from "../range";
import { rangeEnds } from "../time_labels";

const MAX_ROWS = 100;

interface TotalRow extends NameTotals {
  average: Picoseconds;
}

const COLUMNS: [keyof TotalRow, string][] = [
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
  private rows: TotalRow[] = [];
  private by: keyof TotalRow = "self";

  constructor(
    private readonly header: Pick<Header, "unit_ps">,
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

  /** Shows a range without its totals. Returns its title. */
  announce(range: SelectedRange): string {
    const unit = this.header.unit_ps;
    const [start, end] = [toPicoseconds(range.start, unit), toPicoseconds(range.end, unit)];
    const size = range.tracks?.size;
    const where = size === undefined ? "all tracks" : `${size} ${size === 1 ? "track" : "tracks"}`;
    const title = `${duration(end - start)} selected: ${rangeEnds(start, end)}, ${where}`;
    this.title.textContent = title;
    this.root.hidden = false;
    this.say("Waiting for the kernel to add up the merged events …");
    return title;
  }

  show(totals: NameTotals[]): void {
    this.rows = totals.map((row) => ({ ...row, average: row.total / row.count }));
    this.fill();
  }

  private say(text: string): void {
    this.body.replaceChildren(element("p", { class: "tfp-muted" }, text));
  }

  private fill(): void {
    if (this.rows.length === 0) {
      this.say("Nothing ran in this range.");
      return;
    }
    const { by } = this;
    const ordered = [...this.rows].sort((a, b) =>
      by === "name" ? a.name.localeCompare(b.name) : b[by] - a[by],
    );
    const head = element("tr", {}, ...COLUMNS.map(([key, title]) => this.columnHeader(key, title)));
    const body = element("tbody", {}, ...ordered.slice(0, MAX_ROWS).map((row) => this.row(row)));
    this.body.replaceChildren(element("table", {}, element("thead", {}, head), body));
    const more = ordered.length - MAX_ROWS;
    if (more > 0) this.body.append(element("p", { class: "tfp-muted" }, `and ${grouped(more)} more names`));
  }

  private columnHeader(key: keyof TotalRow, title: string): HTMLElement {
    const label = `Order by ${title.toLowerCase()}`;
    const sort = element("button", { type: "button", title: label }, title);
    sort.addEventListener("click", () => {
      this.by = key;
      this.fill();
      this.root.querySelector<HTMLElement>("th[aria-sort] button")?.focus();
    });
    const order = key === "name" ? "ascending" : "descending";
    return element("th", { scope: "col", ...(key === this.by ? { "aria-sort": order } : {}) }, sort);
  }

  private row({ name, count, total, self, average }: TotalRow): HTMLElement {
    const highlight = element("button", { type: "button", title: `Highlight ${name}` }, name);
    highlight.addEventListener("click", () => this.actions.highlight(name));
    const times = [total, self, average].map((ps) => element("td", {}, duration(Math.round(ps))));
    const head = element("th", { scope: "row" }, highlight);
    return element("tr", {}, head, element("td", {}, grouped(count)), ...times);
  }
}
