/** What ran in a selected range, by name. */
import { at } from "../../lib/at";
import { type Picoseconds, type TraceTime, toPicoseconds } from "../../lib/units";
import type { SelectedRange } from "../range";
import type { Rows } from "../rows";
import type { Header } from "./header";
import type { Slices } from "./slices";

/** The events of one name within a range. Times count only as far as they lie in it. */
export interface RangeTotal {
  /** Index into the header's names. */
  name: number;
  count: number;
  total: TraceTime;
  /** The total without the events inside. */
  self: TraceTime;
}

/** The same as a reader sees it. */
export interface NameTotals {
  name: string;
  count: number;
  total: Picoseconds;
  self: Picoseconds;
}

export function named(totals: RangeTotal[], { names, unit_ps }: Header): NameTotals[] {
  return totals.map(({ name, count, total, self }) => ({
    name: at(names, name),
    count,
    total: toPicoseconds(total, unit_ps),
    self: toPicoseconds(self, unit_ps),
  }));
}

/** Sums up what ran in a range, by name; the most self time first. */
export function rangeTotals(
  slices: Slices,
  rows: Pick<Rows, "trackOf" | "depthOf">,
  range: SelectedRange,
): RangeTotal[] {
  const totals = new Map<number, RangeTotal>();
  for (let lane = 0; lane < slices.laneCount; lane++) {
    if (range.tracks && !range.tracks.has(rows.trackOf(lane))) continue;
    const above = rows.depthOf(lane) > 0 ? lane - 1 : -1;
    addLane(totals, slices, lane, above, range);
  }
  return [...totals.values()].sort((a, b) => b.self - a.self || a.name - b.name);
}

function addLane(
  totals: Map<number, RangeTotal>,
  slices: Slices,
  lane: number,
  above: number,
  { start, end }: SelectedRange,
): void {
  const [from, to] = slices.visible(lane, start, end);
  let [parent, parents] = above < 0 ? [0, 0] : slices.visible(above, start, end);
  for (let i = from; i < to; i++) {
    const begin = slices.startOf(i);
    const length = Math.min(slices.endOf(i), end) - Math.max(begin, start);
    const total = totalOf(totals, slices.nameOf(i));
    total.count += slices.eventsIn(i);
    total.total += length;
    total.self += length;
    while (parent + 1 < parents && slices.startOf(parent + 1) <= begin) parent += 1;
    // An event that overlaps the one above without being nested in it is no part of it.
    if (parent < parents && slices.startOf(parent) <= begin && slices.endOf(parent) >= slices.endOf(i))
      totalOf(totals, slices.nameOf(parent)).self -= length;
  }
}

function totalOf(totals: Map<number, RangeTotal>, name: number): RangeTotal {
  let total = totals.get(name);
  if (!total) {
    total = { name, count: 0, total: 0, self: 0 };
    totals.set(name, total);
  }
  return total;
}
