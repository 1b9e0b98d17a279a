import { describe, expect, it } from "vitest";
import {
  type CssPx,
  fromMilliseconds,
  type Picoseconds,
  type TraceTime,
  toPicoseconds,
  toTraceTime,
} from "./units";

const start: Picoseconds = 6000;
const width: CssPx = 800;

describe("units", () => {
  it("convert there and back", () => {
    const time = toTraceTime(start, 1000);
    expect(time).toBe(6);
    expect(toPicoseconds(time, 1000)).toBe(start);
    expect(fromMilliseconds(2)).toBe(2e9);
  });

  it("do not mix: each of these lines is an error for the compiler", () => {
    // @ts-expect-error picoseconds are no time of the trace
    const time: TraceTime = start;
    // @ts-expect-error pixels are no time
    const ps: Picoseconds = width;
    // @ts-expect-error converted twice
    const twice = toPicoseconds(toPicoseconds(6, 1000), 1000);
    // @ts-expect-error converted in the wrong direction
    const back = toTraceTime(toTraceTime(start, 1000), 1000);
    expect([time, ps, twice, back]).toHaveLength(4);
  });
});
