import { describe, expect, it } from "vitest";
import { at } from "../lib/at";
import type { Header } from "./data/header";
import { LANE_PX, Rows, SECTION_PX } from "./rows";

const track = (group: number, label: string, depths: number[]) => ({
  group,
  label,
  kind: "thread" as const,
  depths,
  busy_share: 0,
});

function rows(): Rows {
  const header = {
    groups: [
      { label: "GPU", kind: "device" },
      { label: "CPU", kind: "host" },
    ],
    tracks: [
      track(0, "stream", [9]),
      track(1, "main", [3, 5]),
      track(1, "idle", [0]),
      track(1, "worker", [1]),
    ],
  } as Header;
  return new Rows(header);
}

describe("Rows", () => {
  it("lists sections and tracks with events, and counts the others", () => {
    expect(rows().list.map((row) => row.label)).toEqual([
      "GPU",
      "stream",
      "CPU (1 idle not shown)",
      "main",
      "worker",
    ]);
  });

  it("finds row and lane by position", () => {
    const all = rows();
    const main = at(all.list, 3);
    expect(all.at(main.top + LANE_PX)).toBe(main);
    expect(all.laneAt(main, main.top)).toBe(1);
    expect(all.laneAt(main, main.top + LANE_PX)).toBe(2);
    expect(all.laneAt(main, main.top + 2 * LANE_PX)).toBe(-1);
    expect(all.at(all.height + 1)).toBeUndefined();
  });

  it("knows track and depth of a lane, across tracks without events", () => {
    const all = rows();
    expect([0, 1, 2, 4].map((lane) => all.trackOf(lane))).toEqual([0, 1, 1, 3]);
    expect([1, 2].map((lane) => all.depthOf(lane))).toEqual([0, 1]);
  });

  it("folds tracks to one lane and sections to their title, and unfolds for a lane", () => {
    const all = rows();
    const height = all.height;
    all.toggle(at(all.list, 3));
    expect(all.height).toBe(height - LANE_PX);
    expect(all.topOf(2)).toBe(-1);
    all.toggle(at(all.list, 2));
    expect(all.list.map((row) => row.label)).toEqual(["GPU", "stream", "CPU (1 idle not shown)"]);
    expect(all.height).toBe(at(all.list, 2).top + SECTION_PX);
    all.unfold(2);
    expect(all.height).toBe(height);
    expect(all.topOf(2)).toBe(all.topOf(1) + LANE_PX);
  });

  it("folds idle tracks and further counters behind a row, until it is opened or one of them is needed", () => {
    const header = {
      groups: [{ label: "CPU", kind: "host" }],
      tracks: [track(0, "main", [3]), { ...track(0, "worker", [1]), idle: true }],
      counters: Array.from({ length: 6 }, (_, k) => ({
        name: `memory ${k}`,
        unit: "bytes",
        times_ps: [0],
        values: [1],
      })),
    } as unknown as Header;
    const all = new Rows(header);
    const labels = () => all.list.map((row) => row.label);
    expect(labels()).toEqual([
      "Counters",
      "memory 0",
      "memory 1",
      "memory 2",
      "memory 3",
      "2 more counters",
      "CPU",
      "main",
      "1 nearly idle track",
    ]);
    all.toggle(at(all.list, 5));
    expect(labels().slice(6, 8)).toEqual(["memory 4", "memory 5"]);
    expect(all.topOf(1)).toBe(-1);
    all.unfold(1);
    expect(all.topOf(1)).toBeGreaterThan(0);
    all.toggleMore();
    expect(all.topOf(1)).toBe(-1);
    all.toggleMore();
    expect(labels()).toContain("memory 5");
    expect(all.topOf(1)).toBeGreaterThan(0);
  });

  it("filters by label or section, and drops the filter for a lane that it hides", () => {
    const all = rows();
    all.filter(" WORK ");
    expect(all.list.map((row) => row.label)).toEqual(["CPU", "worker"]);
    all.filter("gpu");
    expect(all.list.map((row) => row.label)).toEqual(["GPU", "stream"]);
    all.unfold(1);
    expect(all.topOf(1)).toBeGreaterThan(0);
  });

  it("finds the row that a lane is folded into", () => {
    const all = rows();
    const cpu = at(all.list, 2);
    all.toggle(cpu);
    expect(all.nearestTop(1)).toBe(cpu.top);
    expect(all.nearestTop(0)).toBe(all.topOf(0));
  });

  it("finds the tracks between two heights", () => {
    const all = rows();
    const main = at(all.list, 3);
    expect([...all.tracksBetween(main.top + 1, main.top + 2)]).toEqual([1]);
    expect([...all.tracksBetween(1000, 0)]).toEqual([0, 1, 3]);
  });
});
