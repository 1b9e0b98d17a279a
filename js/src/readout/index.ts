import "./readout.css";
import { element, keepKeys } from "../lib/dom";
import { significant } from "../lib/format";
import { listen, type Model, push, type RenderProps } from "../lib/host";
import { followTheme } from "../lib/theme";
import { redrawWhenResized } from "./bqplot";
import { numbers } from "./numbers";
import { indexAt, type Span } from "./place";

interface Entry {
  label: string;
  /** What the label means, or its whole text if it is shortened. */
  title?: string;
  /** Any CSS background. */
  color: string;
  /** A value for each mark; empty if the entry only explains, or if `mean` says everything. */
  values: (number | null)[];
  mean: string;
}

export interface Traits {
  chart: string;
  figure?: string;
  title: string;
  x: (number | string)[];
  x_label: string;
  entries: Entry[];
  summary: string;
  notes: string[];
  selected: number | null;
  /** Where the middles of the first and the last mark are, as shares of the chart's size, if it is a picture. */
  span?: [number, number];
}

/**
 * The legend of a chart: names, colours and means, or the values under the pointer while it is on the chart. It reads the
 * chart's own elements, so it works while the kernel is busy. When it has the focus, the arrow keys move along the chart
 * and Enter selects. The chart's numbers follow as a table.
 */
function render({ model, el }: RenderProps<Traits>): () => void {
  const lifetime = new AbortController();
  const { signal } = lifetime;
  const place = element("span", { class: "tfp-readout-place", "aria-live": "polite" });
  const values = model.get("entries").map(() => element("span", { class: "tfp-readout-value" }));
  const root = element(
    "div",
    { class: "tfp-readout", tabindex: 0, role: "group", "aria-label": "Legend and values" },
    place,
  );
  model.get("entries").forEach((entry, k) => {
    const swatch = element("span", { class: "tfp-readout-swatch", style: `background:${entry.color}` });
    root.append(element("span", { title: entry.title ?? "" }, swatch, entry.label, values[k] ?? ""));
  });
  const note = element("span", { class: "tfp-muted" });
  root.append(note);
  const box = element("div", { class: "tfp tfp-legend" }, root);
  if (model.get("x").length) box.append(numbers(model.get("title"), () => rowsOf(model)));
  el.append(box);

  let current: number | null = null;
  const show = (index: number | null) => {
    current = index;
    root.toggleAttribute("data-at-rest", index === null);
    place.textContent =
      index === null ? model.get("summary") : placeName(model.get("x_label"), model.get("x")[index]);
    note.textContent = index === null ? "" : (model.get("notes")[index] ?? "");
    model.get("entries").forEach((entry, k) => {
      const value = values[k];
      const atRest = index === null || !entry.values.length;
      if (value) value.textContent = atRest ? entry.mean : formatted(entry.values[index]);
    });
  };
  const rest = () => show(model.get("selected"));
  const chart = () => (el.getRootNode() as ParentNode).querySelector<HTMLElement>(`.${model.get("chart")}`);
  const connect = (figure: HTMLElement) => {
    if (!figure.hasAttribute("alt")) {
      figure.setAttribute("role", "img");
      figure.setAttribute("aria-label", model.get("title"));
    }
    const under = (event: PointerEvent) => indexUnder(figure, event, model.get("x"), model.get("span"));
    figure.addEventListener("pointermove", (event) => show(under(event)), { signal });
    figure.addEventListener("pointerleave", rest, { signal });
    redrawWhenResized(figure, model.get("figure") ?? "", model.widget_manager, signal);
  };
  whenFound(chart, connect, signal);
  root.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const last = model.get("x").length - 1;
    if (step) show(Math.min(last, Math.max(0, (current ?? -1) + step)));
    else if (event.key === "Enter") push(model, "selected", current);
    else if (event.key === "Escape") push(model, "selected", null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener("blur", rest, { signal });
  listen(model, "change:selected", rest, signal);
  followTheme(box, signal, () => {});
  keepKeys(box, signal);
  rest();
  return () => lifetime.abort();
}

/** The chart's table: a header, then a row for each mark. */
function rowsOf(model: Model<Traits>): string[][] {
  const entries = model.get("entries").filter(({ values }) => values.length);
  const places = model.get("x").map((x) => (typeof x === "number" ? x.toLocaleString("en-US") : x));
  const header = [model.get("x_label"), ...entries.map(({ label }) => label)];
  return [header, ...places.map((place, k) => [place, ...entries.map(({ values }) => formatted(values[k]))])];
}

function formatted(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : significant(value);
}

function placeName(label: string, x: number | string | undefined): string {
  return typeof x === "number" ? `${label} ${x.toLocaleString("en-US")}` : (x ?? "");
}

function indexUnder(
  figure: HTMLElement,
  event: PointerEvent,
  x: (number | string)[],
  shares: [number, number] | undefined,
): number | null {
  const rows = figure.classList.contains("tfp-rows");
  const drawn = () => (rows ? spanOfRows(figure) : spanOfMarks(figure));
  const span = shares ? spanOfShares(figure, shares, rows) : drawn();
  return span && indexAt(span, rows ? event.clientY : event.clientX, x);
}

/** From the middle of the first mark to the middle of the last, in pixels of the page. */
function spanOfMarks(figure: HTMLElement): Span | null {
  const bars = figure.querySelectorAll(".bargroup");
  if (bars.length) return between(bars[0], bars[bars.length - 1], (box) => (box.left + box.right) / 2);
  const curve = figure.querySelector("path.curve, path.line")?.getBoundingClientRect();
  return curve ? { first: curve.left, last: curve.right } : null;
}

/** The same of a picture, which has no elements. */
function spanOfShares(figure: HTMLElement, [first, last]: [number, number], rows: boolean): Span {
  const box = figure.getBoundingClientRect();
  const [start, size] = rows ? [box.top, box.height] : [box.left, box.width];
  return { first: start + first * size, last: start + last * size };
}

function spanOfRows(figure: HTMLElement): Span | null {
  const bars = figure.querySelectorAll(".bargroup");
  return between(bars[0], bars[bars.length - 1], (box) => (box.top + box.bottom) / 2);
}

function between(
  first: Element | undefined,
  last: Element | undefined,
  middle: (box: DOMRect) => number,
): Span | null {
  return first && last
    ? { first: middle(first.getBoundingClientRect()), last: middle(last.getBoundingClientRect()) }
    : null;
}

/** The chart is another widget, which may be drawn later than its legend. */
function whenFound(
  find: () => HTMLElement | null,
  callback: (found: HTMLElement) => void,
  signal: AbortSignal,
  attempts = 100,
): void {
  if (signal.aborted) return;
  const found = find();
  if (found) callback(found);
  else if (attempts > 0) setTimeout(() => whenFound(find, callback, signal, attempts - 1), 50);
}

export default { render };
