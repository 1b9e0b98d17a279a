import "../lib/theme.css";
import "./table.css";
import { at } from "../lib/at";
import { button, element, keepKeys } from "../lib/dom";
import { grouped } from "../lib/format";
import { listen, type Model, push, type RenderProps } from "../lib/host";
import { HoverKeys } from "../lib/hover_keys";
import { followTheme } from "../lib/theme";
import { type Column, type ColumnHeader, makeColumn, toFloats } from "./columns";
import { download, toCsv } from "./csv";
import { Grid } from "./grid";
import { columnMenu } from "./menu";
import { type Direction, matchingRows, sortRows } from "./order";
import { Tree } from "./tree";

const FEW_COLUMNS = 6;

export interface Traits {
  title: string;
  rows: number;
  columns: ColumnHeader[];
  buffers: (DataView | ArrayBuffer)[];
  /** The depth of each row, if rows are a tree: siblings are sorted, and rows open and close. */
  depths?: DataView | ArrayBuffer | null;
  selected_row: number | null;
}

/** A table with search, sorting, selection and export. */
class TableView {
  private readonly columns: Column[];
  private readonly grid: Grid;
  private readonly tree: Tree | null;
  private readonly count = element("span", { class: "tfp-muted", role: "status" });
  private readonly input = element("input", {
    type: "search",
    class: "tfp-input",
    placeholder: "Search",
    "aria-label": "Search rows",
  });
  private sorted: { column: number; direction: Direction } | null = null;
  private order: Uint32Array = new Uint32Array();

  constructor(
    root: HTMLElement,
    private readonly model: Model<Traits>,
    signal: AbortSignal,
  ) {
    const buffers = model.get("buffers");
    this.columns = model.get("columns").map((header, index) => makeColumn(header, at(buffers, index)));
    const listener = {
      sort: (column: number) => this.sort(column),
      select: (row: number | null) => push(model, "selected_row", row),
      open: (row: number, open: boolean) => this.setOpen(row, open),
    };
    const depths = model.get("depths");
    this.tree = depths?.byteLength ? new Tree(toFloats(depths)) : null;
    this.grid = new Grid(
      this.columns,
      model.get("rows"),
      model.get("title") || "Table",
      listener,
      signal,
      this.tree,
    );
    const csv = button("CSV", "Save the rows shown as a CSV file", () => this.save());
    const toolbar = element("div", { class: "tfp-toolbar" }, this.input, this.count, csv);
    root.append(toolbar, this.grid.root);
    new HoverKeys(root, (event) => this.grid.press(event), signal);
    if (this.columns.length > FEW_COLUMNS || this.columns.some(({ hidden }) => hidden)) {
      csv.before(columnMenu(this.columns, (shown) => this.grid.showColumns(shown)));
    } else {
      csv.classList.add("tfp-push");
    }
    this.input.addEventListener("input", () => this.arrange(), { signal });
    listen(model, "change:selected_row", () => this.grid.select(model.get("selected_row")), signal);
    this.arrange();
    this.grid.select(model.get("selected_row"));
    const observer = new ResizeObserver(() => this.grid.resize());
    observer.observe(this.grid.root);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** The first click sorts numbers from the largest, texts from A. */
  private sort(column: number): void {
    const first: Direction = at(this.columns, column).numeric ? "descending" : "ascending";
    const other: Direction = first === "ascending" ? "descending" : "ascending";
    const again = this.sorted?.column === column && this.sorted.direction === first;
    this.sorted = { column, direction: again ? other : first };
    this.grid.markSorted(column, this.sorted.direction);
    this.arrange();
  }

  private arrange(): void {
    const rows = this.model.get("rows");
    const found = matchingRows(this.columns, rows, this.input.value);
    const column = this.sorted ? at(this.columns, this.sorted.column) : null;
    const direction = this.sorted?.direction ?? "ascending";
    if (this.tree) this.order = this.tree.arrange(found, column, direction, found.length < rows);
    else this.order = column ? sortRows(found, column, direction) : found;
    const all = `${grouped(rows)} row${rows === 1 ? "" : "s"}`;
    this.count.textContent = found.length === rows ? all : `${grouped(found.length)} of ${all}`;
    this.grid.show(this.order);
  }

  private setOpen(row: number, open: boolean): void {
    this.tree?.setOpen(row, open);
    this.arrange();
  }

  private save(): void {
    const name = this.model.get("title").replace(/[^\w-]+/g, "_") || "table";
    download(toCsv(this.columns, this.order), `${name}.csv`);
  }
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const done = new AbortController();
  const root = element("div", { class: "tfp tfp-table" });
  el.append(root);
  followTheme(root, done.signal, () => {});
  keepKeys(root, done.signal);
  new TableView(root, model, done.signal);
  return () => {
    done.abort();
    root.remove();
  };
}

export default { render };
