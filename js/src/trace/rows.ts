import { grouped } from "../lib/format";
import type { Header } from "./header";

export const LANE_PX = 17;
export const SECTION_PX = 22;
const TRACK_GAP_PX = 5;

/** A horizontal strip: the title of a section, or one track with its lanes below one another. */
export interface Row {
  kind: "section" | "track";
  /** Index into the header's groups or tracks. */
  index: number;
  label: string;
  /** CSS pixels from the top of all rows. */
  top: number;
  height: number;
  /** First lane and number of lanes shown; none for sections. */
  lane: number;
  lanes: number;
  folded: boolean;
  foldable: boolean;
}

/** Where everything is, from top to bottom. Tracks without events are left out and counted in their section's label. */
export class Rows {
  private readonly foldedGroups = new Set<number>();
  private readonly foldedTracks = new Set<number>();
  private readonly firstLane: number[] = [];
  list: Row[] = [];
  height = 0;

  constructor(private readonly header: Header) {
    let lane = 0;
    for (const track of header.tracks) {
      this.firstLane.push(lane);
      lane += track.depths.length;
    }
    this.arrange();
  }

  toggle(row: Row): void {
    const folded = row.kind === "section" ? this.foldedGroups : this.foldedTracks;
    if (!folded.delete(row.index)) folded.add(row.index);
    this.arrange();
  }

  at(y: number): Row | undefined {
    return this.list.find((row) => y >= row.top && y < row.top + row.height);
  }

  laneAt(row: Row, y: number): number {
    const depth = Math.floor((y - row.top) / LANE_PX);
    return depth < row.lanes ? row.lane + depth : -1;
  }

  trackOf(lane: number): number {
    return this.firstLane.findLastIndex((first) => first <= lane);
  }

  depthOf(lane: number): number {
    return lane - this.firstLane[this.trackOf(lane)];
  }

  /** Top of a lane in CSS pixels, or -1 while it is folded away. */
  topOf(lane: number): number {
    const row = this.list.find(({ lane: first, lanes }) => lane >= first && lane < first + lanes);
    return row ? row.top + (lane - row.lane) * LANE_PX : -1;
  }

  unfold(lane: number): void {
    const track = this.trackOf(lane);
    this.foldedTracks.delete(track);
    this.foldedGroups.delete(this.header.tracks[track].group);
    this.arrange();
  }

  private arrange(): void {
    this.list = [];
    this.height = 0;
    for (const group of new Set(this.header.tracks.map((track) => track.group))) this.addSection(group);
  }

  private addSection(group: number): void {
    const { tracks, groups } = this.header;
    const members = tracks.flatMap((track, index) => (track.group === group ? [index] : []));
    const busy = members.filter((index) => tracks[index].depths.some((events) => events > 0));
    const idle = members.length - busy.length;
    const label = groups[group].label + (idle > 0 ? ` (${grouped(idle)} idle not shown)` : "");
    const folded = this.foldedGroups.has(group);
    this.add(
      { kind: "section", index: group, label, lane: 0, lanes: 0, folded, foldable: busy.length > 0 },
      SECTION_PX,
    );
    if (!folded) for (const index of busy) this.addTrack(index);
  }

  private addTrack(index: number): void {
    const { label, depths } = this.header.tracks[index];
    const folded = this.foldedTracks.has(index);
    const lanes = folded ? 1 : depths.length;
    const row = { kind: "track" as const, index, label, lane: this.firstLane[index], lanes, folded };
    this.add({ ...row, foldable: depths.length > 1 }, lanes * LANE_PX + TRACK_GAP_PX);
  }

  private add(row: Omit<Row, "top" | "height">, height: number): void {
    this.list.push({ ...row, top: this.height, height });
    this.height += height;
  }
}
