import { element } from "../lib/dom";
import { duration, grouped, percent } from "../lib/format";
import type { Row } from "./rows";
import { exactTime } from "./ruler";
import type { Viewer } from "./viewer";

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

export function eventLines({ header, events, rows }: Viewer, event: number): string[] {
  const track = header.tracks[rows.trackOf(events.laneOf(event))];
  const unit = header.unit_ps;
  return [
    header.names[events.name[event]],
    `${duration(events.duration(event) * unit)}, from ${exactTime(events.start[event] * unit)}`,
    track.label,
  ];
}

export function rowLines({ header }: Viewer, row: Row): string[] {
  if (row.kind === "section") return [row.label];
  const { label, busy_share, depths } = header.tracks[row.index];
  const events = depths.reduce((sum, count) => sum + count, 0);
  const lines = [label, `${percent(busy_share * 100)} busy, ${grouped(events)} events`];
  return row.foldable ? [...lines, `Click to ${row.folded ? "unfold" : "fold"}`] : lines;
}
