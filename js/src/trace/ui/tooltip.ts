import { element } from "../../lib/dom";
import { duration, grouped, percent } from "../../lib/format";
import type { Counter } from "../data/header";
import { counterValue, extremes, valueAt } from "../draw/counters";
import type { Row } from "../rows";
import type { Viewer } from "../state";
import { exactTime } from "../time_labels";

const OFFSET_PX = 14;

/** A box beside the pointer with the name of what is under it. */
export class Tooltip {
  readonly root = element("div", { class: "tfp-tooltip", role: "tooltip", hidden: true });

  show(lines: string[], x: number, y: number): void {
    this.root.hidden = lines.length === 0;
    if (this.root.hidden) return;
    const [title, ...rest] = lines;
    this.root.replaceChildren(element("strong", {}, title), ...rest.map((line) => element("div", {}, line)));
    const { clientWidth = 0, clientHeight = 0 } = this.root.parentElement ?? {};
    const { offsetWidth, offsetHeight } = this.root;
    const right = x + OFFSET_PX + offsetWidth <= clientWidth;
    const below = y + OFFSET_PX + offsetHeight <= clientHeight;
    this.root.style.left = `${Math.max(right ? x + OFFSET_PX : x - OFFSET_PX - offsetWidth, 0)}px`;
    this.root.style.top = `${Math.max(below ? y + OFFSET_PX : y - OFFSET_PX - offsetHeight, 0)}px`;
  }
}

export function sliceLines({ header, events, rows }: Viewer, slice: number): string[] {
  const place = events.placeOf(slice);
  const track = header.tracks[rows.trackOf(place.lane)];
  const unit = header.unit_ps;
  const time = `${duration(place.duration * unit)}, from ${exactTime(place.start * unit)}`;
  const name = header.names[place.name];
  if (place.merged === 1) return [name, time, track.label];
  return [`${grouped(place.merged)} events`, `the longest: ${name}`, time, track.label];
}

/** What a row's label says; of a counter, with the value at a time (picoseconds). */
export function rowLines({ header }: Viewer, row: Row, ps: number): string[] {
  if (row.kind === "counter") return counterLines(header.counters?.[row.index], ps);
  if (row.kind !== "track") return [row.label];
  const { label, busy_share, depths } = header.tracks[row.index];
  const events = depths.reduce((sum, count) => sum + count, 0);
  const lines = [
    label,
    `${percent(busy_share * 100)} busy, ${grouped(events)} ${header.merged ? "slices" : "events"}`,
  ];
  return row.foldable ? [...lines, `Click to ${row.folded ? "unfold" : "fold"}`] : lines;
}

function counterLines(counter: Counter | undefined, ps: number): string[] {
  if (!counter) return [];
  const value = ps < 0 ? undefined : valueAt(counter, ps);
  const most = `up to ${counterValue(extremes(counter)[1], counter.unit)}`;
  return value === undefined ? [counter.name, most] : [counterValue(value, counter.unit), counter.name, most];
}
