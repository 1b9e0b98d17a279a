import { at } from "../../lib/at";
import { element } from "../../lib/dom";
import { duration, grouped, percent } from "../../lib/format";
import { type CssPx, type Picoseconds, toPicoseconds } from "../../lib/units";
import { counterValue, extremes, valueAt } from "../data/counters";
import type { Counter, Header } from "../data/header";
import { type Layout, rowAt, timeAt } from "../hit_test";
import type { Row } from "../rows";
import { timeInView } from "../time_labels";

const OFFSET_PX = 14;

/** A box beside the pointer that describes what is under it. */
export class Tooltip {
  readonly root = element("div", { class: "tfp-tooltip", role: "tooltip", hidden: true });

  /** Shows lines of text, the first in bold; without any, hides the box. */
  show([title, ...rest]: string[], x: CssPx, y: CssPx): void {
    this.root.hidden = title === undefined;
    if (title === undefined) return;
    this.root.replaceChildren(element("strong", {}, title), ...rest.map((line) => element("div", {}, line)));
    const { clientWidth = 0, clientHeight = 0 } = this.root.parentElement ?? {};
    const { offsetWidth, offsetHeight } = this.root;
    const right = x + OFFSET_PX + offsetWidth <= clientWidth;
    const below = y + OFFSET_PX + offsetHeight <= clientHeight;
    this.root.style.left = `${Math.max(right ? x + OFFSET_PX : x - OFFSET_PX - offsetWidth, 0)}px`;
    this.root.style.top = `${Math.max(below ? y + OFFSET_PX : y - OFFSET_PX - offsetHeight, 0)}px`;
  }
}

/** Describes the slice under the pointer, or else the row if the pointer is on its name or on a counter. */
export function describe(layout: Layout, slice: number, x: CssPx, y: CssPx): string[] {
  if (slice >= 0) return describeSlice(layout, slice);
  const { header, labelWidth } = layout;
  const row = rowAt(layout, y);
  if (!row) return [];
  if (x < labelWidth) return describeRow(header, row);
  const ps = toPicoseconds(timeAt(layout, x), header.unit_ps);
  return row.kind === "counter" ? describeCounter(header.counters?.[row.index], ps) : [];
}

function describeSlice({ header, slices, rows, viewport }: Layout, index: number): string[] {
  const slice = slices.get(index);
  const track = at(header.tracks, rows.trackOf(slice.lane));
  const unit = header.unit_ps;
  const start = timeInView(toPicoseconds(slice.start, unit), toPicoseconds(viewport.length, unit));
  const time = `${duration(toPicoseconds(slice.duration, unit))}, from ${start}`;
  const name = at(header.names, slice.name);
  if (slice.events === 1) return [name, time, track.label];
  return [`${grouped(slice.events)} events`, `the longest: ${name}`, time, track.label];
}

function describeRow(header: Header, row: Row): string[] {
  if (row.kind === "counter") return describeCounter(header.counters?.[row.index]);
  if (row.kind !== "track") return [row.label];
  const { label, busy_share, depths } = at(header.tracks, row.index);
  const slices = grouped(depths.reduce((sum, count) => sum + count, 0));
  const lines = [
    label,
    `${percent(busy_share * 100)} busy, ${slices} ${header.merged ? "slices" : "events"}`,
  ];
  return row.foldable ? [...lines, `Click to ${row.folded ? "unfold" : "fold"}`] : lines;
}

/** A counter's name and its highest value, after the value at a time. */
function describeCounter(counter: Counter | undefined, ps?: Picoseconds): string[] {
  if (!counter) return [];
  const value = ps === undefined ? undefined : valueAt(counter, ps);
  const lines = [counter.name, `up to ${counterValue(extremes(counter)[1], counter.unit)}`];
  return value === undefined ? lines : [counterValue(value, counter.unit), ...lines];
}
