import { element, OWN_KEYS } from "../lib/dom";
import { cell, type Spare, widths } from "./cells";
import type { Column } from "./columns";
import type { Direction } from "./order";
import type { Tree } from "./tree";

export const ROW_PX = 26;
const HEADER_PX = 42;
const ROWS_IN_SIGHT = 15;
const EXTRA_ROWS = 6;

let grids = 0;

export interface GridListener {
  sort(column: number): void;
  select(row: number | null): void;
  open(row: number, open: boolean): void;
}

/** A table of which only the rows in sight are in the document. */
export class Grid {
  readonly root = element("div", { ...OWN_KEYS, class: "tfp-grid", role: "grid", tabindex: 0 });
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
    this.header = element("div", { class: "tfp-row tfp-header", role: "row", "aria-rowindex": 1 });
    this.header.append(...columns.map((column, index) => this.headerCell(column, index)));
    this.shown = columns.map((_, index) => index);
    this.showColumns(this.shown);
    this.root.setAttribute("aria-label", label);
    this.root.setAttribute("aria-colcount", String(columns.length));
    this.root.append(element("div", { role: "rowgroup", class: "tfp-header-group" }, this.header), this.body);
    this.root.addEventListener("scroll", () => this.draw(), { signal, passive: true });
    this.body.addEventListener("click", (event) => this.onClick(event), { signal });
    this.root.addEventListener("keydown", (event) => this.onKey(event), { signal });
  }

  /** Shows rows of the frame in this order. */
  show(order: Uint32Array): void {
    this.order = order;
    this.root.setAttribute("aria-rowcount", String(order.length + 1));
    this.body.style.height = `${order.length * ROW_PX}px`;
    const visible = Math.min(Math.max(order.length, 1), ROWS_IN_SIGHT);
    // The header and room for a horizontal scroll bar.
    this.root.style.maxHeight = `${visible * ROW_PX + HEADER_PX + 18}px`;
    this.draw();
  }

  /** Shows these columns, by their places, and hides the others. */
  showColumns(shown: number[]): void {
    this.shown = shown;
    Array.from(this.header.children).forEach((node, index) => {
      (node as HTMLElement).hidden = !shown.includes(index);
    });
    this.resize();
  }

  /** Lays the columns out anew; where not all have room, those in sight at first are seen whole, none in part. */
  resize(): void {
    this.layOut();
    const { clientWidth, scrollWidth } = this.root;
    const cells = this.shown.map((index) => this.header.children[index] as HTMLElement);
    const whole = cells.filter((node) => node.offsetLeft + node.offsetWidth <= clientWidth);
    if (scrollWidth > clientWidth && whole.length) {
      const last = whole[whole.length - 1];
      const text = this.shown.findIndex((index) => !this.columns[index].numeric);
      const at = text >= 0 && text < whole.length ? text : whole.length - 1;
      this.layOut({ at, px: clientWidth - last.offsetLeft - last.offsetWidth });
    }
    this.draw();
  }

  private layOut(spare?: Spare): void {
    const columns = this.shown.map((index) => this.columns[index]);
    const { columns: template, least } = widths(columns, this.rows, spare);
    this.root.style.setProperty("--tfp-columns", template);
    this.root.style.setProperty("--tfp-least", least);
  }

  markSorted(column: number, direction: Direction): void {
    Array.from(this.header.children).forEach((node, index) => {
      node.setAttribute("aria-sort", index === column ? direction : "none");
    });
  }

  /** Marks a row of the frame as selected and brings it into sight. */
  select(row: number | null): void {
    this.selected = row;
    if (row === null) this.root.removeAttribute("aria-activedescendant");
    else this.root.setAttribute("aria-activedescendant", `${this.id}-${row}`);
    const place = row === null ? -1 : this.order.indexOf(row);
    if (place >= 0) this.reach(place);
    this.draw();
  }

  draw(): void {
    const { scrollTop, clientHeight } = this.root;
    const first = Math.max(Math.floor(scrollTop / ROW_PX) - EXTRA_ROWS, 0);
    const inSight = Math.ceil((clientHeight || ROWS_IN_SIGHT * ROW_PX) / ROW_PX) + 2 * EXTRA_ROWS;
    const last = Math.min(first + inSight, this.order.length);
    this.body.replaceChildren();
    for (let place = first; place < last; place++) this.body.append(this.row(place));
  }

  private row(place: number): HTMLElement {
    const row = this.order[place];
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
    node.append(...this.shown.map((index) => cell(this.columns[index], row, index)));
    if (this.tree) this.addToggle(node, this.tree.state(row));
    return node;
  }

  /** Puts before the first cell's text a triangle that opens and closes the row; a space where nothing lies below. */
  private addToggle(node: HTMLElement, state: "open" | "closed" | "leaf"): void {
    const toggle = element("span", { class: "tfp-toggle", "aria-hidden": "true" });
    if (state !== "leaf") {
      toggle.dataset.open = String(state === "open");
      toggle.textContent = state === "open" ? "▾" : "▸";
      node.setAttribute("aria-expanded", String(state === "open"));
    }
    const text = node.children[0].querySelector(".tfp-front");
    const indent = text?.textContent?.match(/^\u00a0*/)?.[0] ?? "";
    if (text) text.textContent = (text.textContent ?? "").slice(indent.length);
    text?.before(element("span", {}, indent), toggle);
  }

  private headerCell(column: Column, index: number): HTMLElement {
    const sort = element("button", {
      ...OWN_KEYS,
      type: "button",
      class: "tfp-sort",
      title: column.meaning || column.header,
    });
    sort.append(element("span", { class: "tfp-front" }, column.header));
    sort.addEventListener("click", () => this.listener.sort(index));
    const side = column.numeric ? " tfp-number" : "";
    return element("div", { class: `tfp-cell${side}`, role: "columnheader", "aria-sort": "none" }, sort);
  }

  private reach(place: number): void {
    const top = place * ROW_PX;
    const room = this.root.clientHeight - HEADER_PX;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top + ROW_PX > this.root.scrollTop + room) this.root.scrollTop = top + ROW_PX - room;
  }

  private onClick(event: MouseEvent): void {
    const node = (event.target as Element).closest<HTMLElement>("[data-place]");
    if (!node) return;
    const row = this.order[Number(node.dataset.place)];
    const toggle = (event.target as HTMLElement).dataset.open;
    if (toggle) this.listener.open(row, toggle !== "true");
    else this.listener.select(row === this.selected ? null : row);
  }

  private onKey(event: KeyboardEvent): void {
    const { order, selected } = this;
    const place = selected === null ? -1 : order.indexOf(selected);
    const last = order.length - 1;
    const targets: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place < 0 ? last : place - 1,
      PageDown: place + ROWS_IN_SIGHT,
      PageUp: place - ROWS_IN_SIGHT,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (event.key === "Escape") this.listener.select(null);
    else if (this.tree && selected !== null && /^Arrow(Left|Right)$/.test(event.key))
      this.listener.open(selected, event.key === "ArrowRight");
    else if (target !== undefined && last >= 0)
      this.listener.select(order[Math.min(Math.max(target, 0), last)]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
