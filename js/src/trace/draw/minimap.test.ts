import { describe, expect, it } from "vitest";
import { busiestLanes } from "./minimap";

const track = (busy_share: number, depths = [0], kind: "thread" | "steps" = "thread") => ({
  kind,
  depths,
  busy_share,
});

describe("the minimap", () => {
  it("shows the busiest tracks in their order, by their outermost lanes, without steps and idle ones", () => {
    const tracks = [track(1, [0], "steps"), track(0.2, [0, 1]), track(0), track(0.9, [0, 1, 2]), track(0.5)];
    expect(busiestLanes(tracks)).toEqual([1, 4, 7]);
  });

  it("shows as many as there is room for where all hosts are equally busy", () => {
    expect(busiestLanes(Array.from({ length: 512 }, () => track(0.5)))).toEqual([...Array(14).keys()]);
  });
});
