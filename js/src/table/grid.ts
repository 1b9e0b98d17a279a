import { at } from "../lib/at";
import { element } from "../lib/dom";
import { type Spare, tableCell, widths } from "./cells";
import type { Column } from "./columns";
import type { Direction } from "./order";
import type { Tree } from "./tree";

const ROW_PX = 26;
const HEADER_PX = 42; // at least
const MIN_VISIBLE_ROWS = 15;
const MAX_PART_OF_WINDOW = 0.6;
// A table of a few more rows is shown whole: of the lines of a cell, the slowest may be the last.
const WHOLE_ROWS = 24;
const EXTRA_ROWS = 6;

let grids = 0;

function visibleRows(): number {
  return Math.max(MIN_VISIBLE_ROWS, Math.floor((MAX_PART_OF_WINDOW * window.innerHeight) / ROW_PX));
}

export interface GridListener {
  sort(column: number): void;
  select(row: number | null): void;
  open(row: number, open: boolean): void;
}

/** A table of which only the visible rows are in the document. */
export class Grid {
  readonly root = element("div", { class: "tfp-grid", role: "grid", tabindex: 0 });
  private readonly headers: HTMLElement[];
  private readonly header: HTMLElement;
  private readonly body = element("div", { class: "tfp-body", role: "rowgroup" });
  private order: Uint32Array = new Uint32Array();
  private selected: number | null = null;
  private shown: number[];
  private readonly id = `tfp-grid-${grids++}`;

  constructor(
    private readonly columns: readonly Column[],
    private readonly rows: number,
    label: string,
    private readonly listener: GridListener,
    signal: AbortSignal,
    private readonly tree: Tree | null = null,
  ) {
    if (tree) this.root.setAttribute("role", "treegrid");
    this.headers = columns.map((column, index) => this.headerCell(column, index));
    const attributes = { class: "tfp-row tfp-header", role: "row", "aria-rowindex": 1 };
    this.header = element("div", attributes, ...this.headers);
    this.shown = columns.flatMap(({ hidden }, index) => (hidden ? [] : [index]));
    this.showColumns(this.shown);
    this.root.setAttribute("aria-label", label);
    this.root.setAttribute("aria-colcount", String(columns.length));
    this.root.append(element("div", { role: "rowgroup", class: "tfp-header-group" }, this.header), this.body);
    this.root.addEventListener("scroll", () => this.draw(), { signal, passive: true });
    this.body.addEventListener("click", (event) => this.onClick(event), { signal });
    this.root.addEventListener("keydown", (event) => this.onKey(event), { signal });
  }

  /** Shows rows of the data in this order. */
  show(order: Uint32Array): void {
    this.order = order;
    this.root.setAttribute("aria-rowcount", String(order.length + 1));
    this.body.style.height = `${order.length * ROW_PX}px`;
    this.limit();
    this.draw();
  }

  /** Shows the columns with these indices and hides the others. */
  showColumns(shown: number[]): void {
    this.shown = shown;
    this.headers.forEach((node, index) => {
      node.hidden = !shown.includes(index);
    });
    this.resize();
  }

  /** Lays the columns out again. If not all have room, the first ones share the width, so that none is visible in part. */
  resize(): void {
    this.layOut();
    const { clientWidth, scrollWidth } = this.root;
    const headers = this.shown.map((index) => at(this.headers, index));
    const whole = headers.filter((node) => node.offsetLeft + node.offsetWidth <= clientWidth);
    const last = whole.at(-1);
    if (scrollWidth > clientWidth && last) {
      const text = this.shownColumns.findIndex(({ numeric }) => !numeric);
      const widened = text >= 0 && text < whole.length ? [text] : whole.map((_, index) => index);
      this.layOut({ at: widened, px: clientWidth - last.offsetLeft - last.offsetWidth });
    }
    this.limit();
    this.draw();
  }

  /** Limits the height to some rows, the header, which is as high as its texts, and a horizontal scroll bar. */
  private limit(): void {
    const rows = Math.max(this.order.length, 1);
    const visible = rows > WHOLE_ROWS ? visibleRows() : rows;
    this.root.style.maxHeight = `${visible * ROW_PX + this.headerPx + 18}px`;
  }

  private get headerPx(): number {
    return this.header.offsetHeight || HEADER_PX;
  }

  private layOut(spare?: Spare): void {
    const { columns, minimum } = widths(
      this.shownColumns,
      this.rows,
      spare,
      this.root.clientWidth || undefined,
    );
    this.root.style.setProperty("--tfp-columns", columns);
    this.root.style.setProperty("--tfp-least", minimum);
  }

  private get shownColumns(): Column[] {
    return this.shown.map((index) => at(this.columns, index));
  }

  markSorted(column: number, direction: Direction): void {
    this.headers.forEach((node, index) => {
      node.setAttribute("aria-sort", index === column ? direction : "none");
    });
  }

  /** Marks a row of the data as selected and scrolls to it. */
  select(row: number | null): void {
    this.selected = row;
    if (row === null) this.root.removeAttribute("aria-activedescendant");
    else this.root.setAttribute("aria-activedescendant", `${this.id}-${row}`);
    const place = row === null ? -1 : this.order.indexOf(row);
    if (place >= 0) this.reveal(place);
    this.draw();
  }

  draw(): void {
    const { scrollTop, clientHeight } = this.root;
    const first = Math.max(Math.floor(scrollTop / ROW_PX) - EXTRA_ROWS, 0);
    const visible = Math.ceil((clientHeight || visibleRows() * ROW_PX) / ROW_PX) + 2 * EXTRA_ROWS;
    const last = Math.min(first + visible, this.order.length);
    this.body.replaceChildren();
    for (let place = first; place < last; place++) this.body.append(this.row(place));
  }

  private row(place: number): HTMLElement {
    const row = at(this.order, place);
    const selected = row === this.selected;
    const node = element("div", {
      class: "tfp-row",
      role: "row",
      id: `${this.id}-${row}`,
      "aria-rowindex": place + 2,
      "aria-selected": String(selected),
      "data-place": place,
    });
    node.style.top = `${place * ROW_PX}px`;
    node.append(...this.shown.map((index) => tableCell(at(this.columns, index), row, index)));
    if (this.tree) this.addToggle(node, this.tree.state(row));
    return node;
  }

  /** Puts a triangle that opens and closes the row before the text of its first cell; a space if there are no rows below it. */
  private addToggle(node: HTMLElement, state: "open" | "closed" | "leaf"): void {
    const toggle = element("span", { class: "tfp-toggle", "aria-hidden": "true" });
    if (state !== "leaf") {
      toggle.dataset.open = String(state === "open");
      toggle.textContent = state === "open" ? "▾" : "▸";
      node.setAttribute("aria-expanded", String(state === "open"));
    }
    const text = node.firstElementChild?.querySelector(".tfp-front");
    const indent = text?.textContent?.match(/^\u00a0*/)?.[0] ?? "";
    if (text) text.textContent = (text.textContent ?? "").slice(indent.length);
    text?.before(element("span", {}, indent), toggle);
  }

  private headerCell(column: Column, index: number): HTMLElement {
    const sort = element("button", {
      type: "button",
      class: "tfp-sort",
      title: column.meaning || column.header,
    });
    sort.append(element("span", { class: "tfp-front" }, column.header));
    sort.addEventListener("click", () => this.listener.sort(index));
    const side = column.numeric ? " tfp-number" : "";
    return element("div", { class: `tfp-cell${side}`, role: "columnheader", "aria-sort": "none" }, sort);
  }

  private reveal(place: number): void {
    const top = place * ROW_PX;
    const room = this.root.clientHeight - this.headerPx;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top + ROW_PX > this.root.scrollTop + room) this.root.scrollTop = top + ROW_PX - room;
  }

  private onClick(event: MouseEvent): void {
    const node = (event.target as Element).closest<HTMLElement>("[data-place]");
    if (!node) return;
    const row = at(this.order, Number(node.dataset.place));
    const toggle = (event.target as HTMLElement).dataset.open;
    if (toggle) this.listener.open(row, toggle !== "true");
    else this.listener.select(row === this.selected ? null : row);
  }

  /** Does what a key does in the table. Returns whether it does anything. */
  press({ key }: KeyboardEvent): boolean {
    const { order, selected } = this;
    const place = selected === null ? -1 : order.indexOf(selected);
    const last = order.length - 1;
    const targets: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place < 0 ? last : place - 1,
      PageDown: place + visibleRows(),
      PageUp: place - visibleRows(),
      Home: 0,
      End: last,
    };
    const target = targets[key];
    if (key === "Escape") this.listener.select(null);
    else if (this.tree && selected !== null && /^Arrow(Left|Right)$/.test(key))
      this.listener.open(selected, key === "ArrowRight");
    else if (target !== undefined && last >= 0)
      this.listener.select(at(order, Math.min(Math.max(target, 0), last)));
    else return false;
    return true;
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
