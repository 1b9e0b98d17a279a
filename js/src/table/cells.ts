import { element } from "../lib/dom";
import { type Column, cellText, fullText, valueAt } from "./columns";

const SAMPLE_ROWS = 200;
const BACK = 14;
const TEXT_CH: [number, number] = [8, 44];
const MIN_TEXT_CH = 17;
const MIN_FIRST_CH = 36;
const MIN_CODE_CH = 34;
// The most that a text, and all texts before the first number, keep of a narrow table's width: numbers are in sight, too.
const TEXT_SHARE = 0.4;
const TEXTS_SHARE = 0.6;
const CH_PX = 7;
const NUMBER_CH: [number, number] = [4, 24];
const PADDING_PX = 16;
const ARROW_CH = 3;

/** Widths in CSS: of the columns, and the minimum for all of them together. */
export interface Widths {
  columns: string;
  minimum: string;
}

/** Room to share between the columns at some indices. */
export interface Spare {
  at: number[];
  px: number;
}

/**
 * Numbers are as wide as they need; texts share the rest of `room`, and the first, which names the row, has a larger
 * minimum.
 */
export function widths(
  columns: readonly Column[],
  rows: number,
  spare: Spare = { at: [], px: 0 },
  room: number = Number.POSITIVE_INFINITY,
): Widths {
  const texts = columns.findIndex(({ numeric }) => numeric);
  const share = Math.min(TEXT_SHARE, TEXTS_SHARE / Math.max(texts, 1));
  const most = Math.max(Math.floor((share * room) / CH_PX), MIN_TEXT_CH);
  const each = columns.map((column, index) => {
    const text = column.kind === "code" ? MIN_CODE_CH : MIN_TEXT_CH;
    const { minimum, grow } = width(column, rows, index === 0 ? MIN_FIRST_CH : text, most);
    const more = spare.at.includes(index) ? ` + ${spare.px / spare.at.length}px` : "";
    return { minimum: `${minimum}${more}`, grow };
  });
  return {
    columns: each
      .map(({ minimum, grow }) => (grow ? `minmax(calc(${minimum}), ${grow}fr)` : `calc(${minimum})`))
      .join(" "),
    minimum: `calc(${each.map(({ minimum }) => minimum).join(" + ")})`,
  };
}

function width(
  column: Column,
  rows: number,
  minText: number,
  maxText: number,
): { minimum: string; grow: number } {
  let longest = headerWidth(column.header, column.numeric ? 0 : ARROW_CH);
  for (let row = 0; row < Math.min(rows, SAMPLE_ROWS); row++) {
    longest = Math.max(longest, cellText(column, row).length);
  }
  const [fewest, most] = column.numeric ? NUMBER_CH : TEXT_CH;
  const chars = Math.min(Math.max(longest, fewest), most);
  const text = Math.min(chars, column.short ? chars : minText, maxText);
  const minimum = column.numeric ? chars : text;
  return { minimum: `${minimum}ch + ${PADDING_PX}px`, grow: column.numeric ? 0 : chars };
}

/** A header takes two lines if that saves room. It is bold, and has room for an arrow beside it in text columns. */
export function headerWidth(header: string, arrow: number): number {
  const words = header.split(" ").map((word) => word.length);
  const breaks = words.map((_, k) => {
    const first = words.slice(0, k + 1).reduce((sum, length) => sum + length + 1, -1);
    return Math.max(first, header.length - first - 1);
  });
  return Math.ceil(Math.min(...breaks) * 1.1) + arrow;
}

/** A table cell: its text, cut in the middle if there is no room, over a bar if the column has bars. */
export function tableCell(column: Column, row: number, index: number): HTMLElement {
  const text = cellText(column, row);
  const node = element("div", { role: "gridcell", class: cellClass(column), "aria-colindex": index + 1 });
  node.title = fullText(column, row);
  const value = valueAt(column, row);
  if (column.bar && value > 0) node.append(bar(value / column.fullBar));
  if (column.numeric) node.append(element("span", {}, text));
  else node.append(...cuttable(text, column.kind === "code"));
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

/** A long text is cut at its end (by CSS). The last characters of code stay, which say as much as the first. */
function cuttable(text: string, keepsEnd: boolean): HTMLElement[] {
  if (!keepsEnd || text.length <= BACK * 2) return [element("span", { class: "tfp-front" }, text)];
  return [
    element("span", { class: "tfp-front" }, text.slice(0, -BACK)),
    element("span", { class: "tfp-back" }, text.slice(-BACK)),
  ];
}
