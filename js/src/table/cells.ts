import { element } from "../lib/dom";
import { type Column, cellText, fullText } from "./columns";

const SAMPLE_ROWS = 200;
const TAIL = 14;
const TEXT_CH: [number, number] = [12, 44];
const NUMBER_CH: [number, number] = [6, 18];
const PADDING_PX = 22;

/** Column widths as a CSS grid: numbers as wide as they need, texts share what is left. */
export function gridTemplate(columns: readonly Column[], rows: number): string {
  return columns.map((column) => width(column, rows)).join(" ");
}

function width(column: Column, rows: number): string {
  let longest = column.header.length + 2;
  for (let row = 0; row < Math.min(rows, SAMPLE_ROWS); row++)
    longest = Math.max(longest, cellText(column, row).length);
  const [least, most] = column.numeric ? NUMBER_CH : TEXT_CH;
  const chars = Math.min(Math.max(longest, least), most);
  return column.numeric
    ? `calc(${chars}ch + ${PADDING_PX}px)`
    : `minmax(calc(${Math.min(chars, 22)}ch + ${PADDING_PX}px), ${chars}fr)`;
}

/** A cell: its text, cut in the middle when there is no room, over a bar where the column wants one. */
export function cell(column: Column, row: number, index: number): HTMLElement {
  const text = cellText(column, row);
  const node = element("div", { role: "gridcell", class: cellClass(column), "aria-colindex": index + 1 });
  node.title = fullText(column, row);
  if (column.bar && column.values[row] > 0) node.append(bar(column.values[row] / column.most));
  node.append(...(column.numeric ? [element("span", {}, text)] : cuttable(text)));
  return node;
}

function cellClass({ numeric, kind }: Column): string {
  return `tfp-cell${numeric ? " tfp-number" : ""}${kind === "code" ? " tfp-code" : ""}`;
}

function bar(share: number): HTMLElement {
  const node = element("div", { class: "tfp-bar", "aria-hidden": "true" });
  node.style.width = `${Math.min(share, 1) * 100}%`;
  return node;
}

/** The head of a long text gives way (by CSS), its last characters stay: names of ops differ at both ends. */
function cuttable(text: string): HTMLElement[] {
  if (text.length <= TAIL * 2) return [element("span", { class: "tfp-head" }, text)];
  return [
    element("span", { class: "tfp-head" }, text.slice(0, -TAIL)),
    element("span", { class: "tfp-tail" }, text.slice(-TAIL)),
  ];
}
