import { element } from "../lib/dom";
import { type Column, cellText, fullText } from "./columns";

const SAMPLE_ROWS = 200;
const BACK = 14;
const TEXT_CH: [number, number] = [8, 44];
const TEXT_LEAST_CH = 17;
const FIRST_LEAST_CH = 36;
const CODE_LEAST_CH = 34;
const NUMBER_CH: [number, number] = [4, 24];
const PADDING_PX = 16;
const ARROW_CH = 3;

/** Widths for CSS: of the grid's columns, and the least that all of them need together. */
export interface Widths {
  columns: string;
  least: string;
}

/** Room to add to the column at a place. */
export interface Spare {
  at: number;
  px: number;
}

/** Numbers are as wide as they need, texts share what is left; the first says what the row is about. */
export function widths(columns: readonly Column[], rows: number, spare: Spare = { at: 0, px: 0 }): Widths {
  const each = columns.map((column, index) => {
    const text = column.kind === "code" ? CODE_LEAST_CH : TEXT_LEAST_CH;
    const { least, grow } = width(column, rows, index === 0 ? FIRST_LEAST_CH : text);
    return { least: spare.px && index === spare.at ? `${least} + ${spare.px}px` : least, grow };
  });
  return {
    columns: each
      .map(({ least, grow }) => (grow ? `minmax(calc(${least}), ${grow}fr)` : `calc(${least})`))
      .join(" "),
    least: `calc(${each.map(({ least }) => least).join(" + ")})`,
  };
}

function width(column: Column, rows: number, leastText: number): { least: string; grow: number } {
  let longest = headerWidth(column.header, column.numeric ? 0 : ARROW_CH);
  for (let row = 0; row < Math.min(rows, SAMPLE_ROWS); row++) {
    longest = Math.max(longest, cellText(column, row).length);
  }
  const [few, most] = column.numeric ? NUMBER_CH : TEXT_CH;
  const chars = Math.min(Math.max(longest, few), most);
  const least = column.numeric || column.short ? chars : Math.min(chars, leastText);
  return { least: `${least}ch + ${PADDING_PX}px`, grow: column.numeric ? 0 : chars };
}

/** A header takes two lines where that saves room. It is bold, and leaves room for an arrow beside texts. */
export function headerWidth(header: string, arrow: number): number {
  const words = header.split(" ").map((word) => word.length);
  const breaks = words.map((_, k) => {
    const first = words.slice(0, k + 1).reduce((sum, length) => sum + length + 1, -1);
    return Math.max(first, header.length - first - 1);
  });
  return Math.ceil(Math.min(...breaks) * 1.1) + arrow;
}

/** A cell: its text, cut in the middle when there is no room, over a bar where the column wants one. */
export function cell(column: Column, row: number, index: number): HTMLElement {
  const text = cellText(column, row);
  const node = element("div", { role: "gridcell", class: cellClass(column), "aria-colindex": index + 1 });
  node.title = fullText(column, row);
  if (column.bar && column.values[row] > 0) node.append(bar(column.values[row] / column.most));
  if (column.numeric) node.append(element("span", {}, text));
  else node.append(...cuttable(text, column.kind === "code" && !column.short));
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

/** A long text gives way at its end (by CSS); of code the last characters stay, which tell as much as the first. */
function cuttable(text: string, keepsEnd: boolean): HTMLElement[] {
  if (!keepsEnd || text.length <= BACK * 2) return [element("span", { class: "tfp-front" }, text)];
  return [
    element("span", { class: "tfp-front" }, text.slice(0, -BACK)),
    element("span", { class: "tfp-back" }, text.slice(-BACK)),
  ];
}
