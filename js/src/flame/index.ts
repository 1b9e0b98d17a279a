import "./flame.css";
import { button, element, keepKeys } from "../lib/dom";
import { enlarger } from "../lib/enlarge";
import { duration, percent } from "../lib/format";
import type { RenderProps } from "../lib/host";
import { HoverKeys } from "../lib/hover_keys";
import { followTheme } from "../lib/theme";
import type { CssPx } from "../lib/units";
import { around, type Boxes, endOf, matches, placed } from "./boxes";

export interface Traits {
  boxes: Boxes;
  legend: [string, string][];
}

const ROW: CssPx = 19;
const LEAST_WIDTH: CssPx = 2;
const PS_PER_MS = 1e9;
const DARK = new Set(["#0072B2"]);
const PATH_END = 3;

/**
 * A flame graph: a click lets a box fill the width, Escape or Backspace goes out again, arrows walk from box to box, and
 * `/` or the field searches. While the pointer is on it, it has the keyboard.
 */
function render({ model, el }: RenderProps<Traits>): () => void {
  const lifetime = new AbortController();
  const { signal } = lifetime;
  const boxes = model.get("boxes");
  let root = 0;
  let current = 0;
  let found: Set<number> = new Set();
  const drawn = new Map<number, HTMLElement>();

  const search = element("input", {
    class: "tfp-input",
    type: "search",
    placeholder: "Search (/)",
    "aria-label": "Search boxes",
  });
  const matched = element("span", { class: "tfp-muted", "aria-live": "polite" });
  const whole = button("Show all", "Show all: let everything fill the width", () => zoom(0));
  const legend = element("span", { class: "tfp-flame-legend tfp-push" });
  for (const [name, color] of model.get("legend")) {
    const swatch = element("span", { class: "tfp-flame-swatch", style: `background:${color}` });
    legend.append(element("span", {}, swatch, name));
  }
  const bar = element("div", { class: "tfp-toolbar" }, search, whole, matched, legend);
  const area = element("div", {
    class: "tfp-flame-boxes",
    tabindex: 0,
    role: "tree",
    "aria-label": "Flame graph",
  });
  const told = element("div", { class: "tfp-flame-told", "aria-live": "polite" });
  const box = element("div", { class: "tfp tfp-flame" }, bar, area, told);
  bar.append(...enlarger(box, draw, signal));
  el.append(box);

  const name = (row: number) => boxes.names[boxes.name[row] ?? 0] ?? "";
  const time = (ms: number | undefined) => duration((ms ?? 0) * PS_PER_MS);
  const shareOf = (row: number, of: number) =>
    percent((100 * (boxes.total[row] ?? 0)) / (boxes.total[of] || 1));
  const describe = (row: number) => {
    const path = around(boxes, row).slice(1).map(name);
    const inside = [...(path.length > PATH_END ? ["…"] : []), ...path.slice(-PATH_END)].join(" › ");
    const ofShown = root === 0 || row < root ? "" : `, ${shareOf(row, root)} of what is shown`;
    const times = `${time(boxes.total[row])} (${shareOf(row, 0)} of all${ofShown}), ${time(boxes.own[row])} of its own`;
    return { path: inside, title: name(row), times };
  };

  function tell(row: number): void {
    const { path, title, times } = describe(row);
    told.replaceChildren(
      element("b", {}, title),
      ` ${times}`,
      element("span", { class: "tfp-muted" }, path && `  in ${path}`),
    );
  }

  function point(row: number): void {
    drawn.get(current)?.classList.remove("tfp-flame-current");
    current = row;
    drawn.get(row)?.classList.add("tfp-flame-current");
    tell(row);
  }

  function draw(): void {
    const width = area.clientWidth || 600;
    drawn.clear();
    const nodes = placed(boxes, root, LEAST_WIDTH / width).map(({ row, left, width: part, depth }) => {
      const color = boxes.color[row] ?? "#999999";
      const node = element(
        "div",
        {
          class: `tfp-flame-box${row < root ? " tfp-flame-around" : ""}`,
          role: "treeitem",
          "aria-level": depth + 1,
          style: `left:${100 * left}%;width:${100 * part}%;top:${depth * ROW}px;background:${color};color:${DARK.has(color) ? "#fff" : "#000"}`,
        },
        part * width > 24 ? name(row) : "",
      );
      node.dataset.row = String(row);
      drawn.set(row, node);
      return node;
    });
    area.replaceChildren(...nodes);
    const deepest = Math.max(0, ...[...drawn.keys()].map((row) => boxes.depth[row] ?? 0));
    area.style.height = `${(deepest + 1) * ROW}px`;
    whole.disabled = root === 0;
    mark();
    point(drawn.has(current) ? current : root);
  }

  function mark(): void {
    area.classList.toggle("tfp-flame-searched", search.value !== "");
    for (const [row, node] of drawn) node.classList.toggle("tfp-flame-match", found.has(row));
  }

  function zoom(row: number): void {
    root = row;
    current = row;
    draw();
  }

  function find(): void {
    const { rows, total } = matches(boxes, search.value);
    found = rows;
    const share = percent((100 * total) / (boxes.total[0] || 1));
    matched.textContent = search.value
      ? `${rows.size} ${rows.size === 1 ? "box" : "boxes"}, ${time(total)}, ${share} of all`
      : "";
    mark();
  }

  /** The box beside the current one, at its depth. */
  function beside(step: number): number {
    const depth = boxes.depth[current];
    const level = [...drawn.keys()].filter((row) => boxes.depth[row] === depth);
    return level[level.indexOf(current) + step] ?? current;
  }

  function inside(): number {
    const first = current + 1;
    return first < endOf(boxes, current) && drawn.has(first) ? first : current;
  }

  function press(event: KeyboardEvent): void {
    const out = around(boxes, current).at(-1) ?? 0;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => point(beside(-1)),
      ArrowRight: () => point(beside(1)),
      ArrowUp: () => point(out),
      ArrowDown: () => point(inside()),
      Enter: () => zoom(current),
      Escape: () => zoom(around(boxes, root).at(-1) ?? 0),
      Backspace: () => zoom(around(boxes, root).at(-1) ?? 0),
      Home: () => zoom(0),
      "/": () => search.focus(),
    };
    moves[event.key]?.();
  }

  const rowAt = (event: Event) => {
    const node = (event.target as Element).closest<HTMLElement>("[data-row]");
    return node ? Number(node.dataset.row) : null;
  };
  area.addEventListener("pointermove", (event) => {
    const row = rowAt(event);
    if (row !== null && row !== current) point(row);
  });
  area.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row !== null) zoom(row);
  });
  area.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    press(event);
  });
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") area.focus();
  });
  new HoverKeys(box, press, signal);
  keepKeys(box, signal);
  followTheme(box, signal, () => {});
  const resized = new ResizeObserver(() => draw());
  resized.observe(area.parentElement ?? area);
  signal.addEventListener("abort", () => resized.disconnect());
  draw();
  return () => lifetime.abort();
}

export default { render };
