import { at } from "../lib/at";
import { grouped } from "../lib/format";
import type { CssPx } from "../lib/units";
import type { Header } from "./data/header";

export const LANE_PX = 17;
export const SECTION_PX = 22;
export const COUNTER_PX = 40;
const TRACK_GAP_PX = 5;
const MORE_PX = 20;
const OPEN_COUNTERS = 4;

/** The section of the counters, which belong to no group of the header. */
const COUNTERS = -1;

/**
 * A horizontal strip: the title of a section, a counter, a track with its lanes below one another, or a title that
 * stands for more tracks or counters.
 */
export interface Row {
  kind: "section" | "counter" | "track" | "more";
  /** Index into the header's groups (for sections and what stands for their idle tracks), counters or tracks. */
  index: number;
  label: string;
  /** Distance from the top of all rows. */
  top: CssPx;
  height: CssPx;
  /** First lane and number of visible lanes; only tracks have any. */
  lane: number;
  lanes: number;
  folded: boolean;
  foldable: boolean;
}

/**
 * The rows from top to bottom: counters, then the tracks by group. Tracks without events are left out and counted in
 * the title of their section. Nearly idle tracks are folded behind one row at first.
 */
export class Rows {
  private readonly foldedGroups = new Set<number>();
  private readonly foldedTracks = new Set<number>();
  private readonly openMore = new Set<number>();
  private readonly firstLane: number[] = [];
  private wanted = "";
  list: Row[] = [];
  height: CssPx = 0;

  constructor(private readonly header: Header) {
    let lane = 0;
    for (const track of header.tracks) {
      this.firstLane.push(lane);
      lane += track.depths.length;
    }
    this.arrange();
  }

  toggle({ kind, index }: Row): void {
    const set = {
      section: this.foldedGroups,
      more: this.openMore,
      track: this.foldedTracks,
      counter: undefined,
    }[kind];
    if (set && !set.delete(index)) set.add(index);
    this.arrange();
  }

  /** Opens everything that is folded away at first, or closes it if any of it is open. */
  toggleMore(): void {
    const close = this.openMore.size > 0;
    this.openMore.clear();
    if (!close) for (const { group } of this.header.tracks) this.openMore.add(group);
    if (!close) this.openMore.add(COUNTERS);
    this.arrange();
  }

  /** Shows only rows that have `text`, in any case, in their label or in that of their section. */
  filter(text: string): void {
    this.wanted = text.trim().toLowerCase();
    this.arrange();
  }

  at(y: CssPx): Row | undefined {
    return this.list.find((row) => y >= row.top && y < row.top + row.height);
  }

  /** The lane of a row at a height, or -1. */
  laneAt(row: Row, y: CssPx): number {
    const depth = Math.floor((y - row.top) / LANE_PX);
    return depth < row.lanes ? row.lane + depth : -1;
  }

  /** The tracks that are at least partly between two heights. */
  tracksBetween(from: CssPx, to: CssPx): Set<number> {
    const hit = this.list.filter(
      ({ kind, top, height }) =>
        kind === "track" && top <= Math.max(from, to) && top + height > Math.min(from, to),
    );
    return new Set(hit.map((row) => row.index));
  }

  trackOf(lane: number): number {
    return this.firstLane.findLastIndex((first) => first <= lane);
  }

  depthOf(lane: number): number {
    return lane - at(this.firstLane, this.trackOf(lane));
  }

  /** The top of a lane, or -1 while it is folded away. */
  topOf(lane: number): CssPx {
    const row = this.list.find(({ lane: first, lanes }) => lane >= first && lane < first + lanes);
    return row ? row.top + (lane - row.lane) * LANE_PX : -1;
  }

  /** The top of a lane, or of the row that it is folded into. */
  nearestTop(lane: number): CssPx {
    const top = this.topOf(lane);
    if (top >= 0) return top;
    const track = this.trackOf(lane);
    return (this.find("track", track) ?? this.find("section", this.groupOf(track)))?.top ?? -1;
  }

  find(kind: Row["kind"], index: number): Row | undefined {
    return this.list.find((row) => row.kind === kind && row.index === index);
  }

  groupOf(track: number): number {
    return at(this.header.tracks, track).group;
  }

  /** Makes a lane visible, whatever hides it. */
  unfold(lane: number): void {
    const track = this.trackOf(lane);
    const { group, idle, label } = at(this.header.tracks, track);
    this.foldedTracks.delete(track);
    this.foldedGroups.delete(group);
    if (idle) this.openMore.add(group);
    if (!this.matches(label, group)) this.wanted = "";
    this.arrange();
  }

  private arrange(): void {
    this.list = [];
    this.height = 0;
    this.addCounters();
    for (const group of new Set(this.header.tracks.map((track) => track.group))) this.addSection(group);
  }

  private matches(label: string, group: number): boolean {
    const section = this.header.groups[group]?.label ?? "counters";
    return `${section}\n${label}`.toLowerCase().includes(this.wanted);
  }

  private addCounters(): void {
    const counters = (this.header.counters ?? []).flatMap(({ name }, index) =>
      this.matches(name, COUNTERS) ? [{ name, index }] : [],
    );
    if (counters.length === 0) return;
    if (this.addTitle(COUNTERS, "Counters", true)) return;
    const first = this.wanted ? counters.length : OPEN_COUNTERS;
    for (const { name, index } of counters.slice(0, first)) this.addCounter(index, name);
    const more = counters.slice(first);
    if (more.length === 0 || this.addMore(COUNTERS, `${more.length} more counters`)) return;
    for (const { name, index } of more) this.addCounter(index, name);
  }

  private addSection(group: number): void {
    const { tracks, groups } = this.header;
    const members = [...tracks.entries()]
      .filter(([, track]) => track.group === group && this.matches(track.label, group))
      .map(([index, { depths, idle }]) => ({ index, busy: depths.some((slices) => slices > 0), idle }));
    if (members.length === 0) return;
    const busy = members.filter((track) => track.busy);
    const empty = members.length - busy.length;
    const label = at(groups, group).label + (empty > 0 ? ` (${grouped(empty)} idle not shown)` : "");
    if (this.addTitle(group, label, busy.length > 0)) return;
    const folded = busy.filter(({ idle }) => idle && !this.wanted);
    for (const track of busy) if (!folded.includes(track)) this.addTrack(track.index);
    if (folded.length === 0 || this.addMore(group, idleLabel(folded.length))) return;
    for (const { index } of folded) this.addTrack(index);
  }

  /** Returns whether the section is folded. */
  private addTitle(index: number, label: string, foldable: boolean): boolean {
    const folded = this.foldedGroups.has(index);
    this.add({ kind: "section", index, label, ...NO_LANES, folded, foldable }, SECTION_PX);
    return folded;
  }

  /** Adds the row that the following rows are folded behind at first; returns whether they still are. */
  private addMore(index: number, label: string): boolean {
    const folded = !this.openMore.has(index);
    this.add({ kind: "more", index, label, ...NO_LANES, folded, foldable: true }, MORE_PX);
    return folded;
  }

  private addCounter(index: number, label: string): void {
    this.add({ kind: "counter", index, label, ...NO_LANES }, COUNTER_PX);
  }

  private addTrack(index: number): void {
    const { label, depths } = at(this.header.tracks, index);
    const folded = this.foldedTracks.has(index);
    const lanes = folded ? 1 : depths.length;
    const row = { kind: "track" as const, index, label, lane: at(this.firstLane, index), lanes, folded };
    this.add({ ...row, foldable: depths.length > 1 }, lanes * LANE_PX + TRACK_GAP_PX);
  }

  private add(row: Omit<Row, "top" | "height">, height: CssPx): void {
    this.list.push({ ...row, top: this.height, height });
    this.height += height;
  }
}

const NO_LANES = { lane: 0, lanes: 0, folded: false, foldable: false };

function idleLabel(count: number): string {
  return `${grouped(count)} nearly idle ${count === 1 ? "track" : "tracks"}`;
}
