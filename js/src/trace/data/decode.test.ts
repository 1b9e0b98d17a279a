import { describe, expect, it } from "vitest";
import { bytesOf } from "../../lib/page";
import { decodeTile, decodeTrace } from "./decode";
import { encode } from "./encode.testing";
import encoded from "./encoded.cases.json";
import type { Header } from "./header";
import type { Slices } from "./slices";

describe("decodeTrace", () => {
  it("reads starts, durations and names of every lane", async () => {
    const { header, payload } = await encode([
      [
        [
          [5, 10, "fit"],
          [20, 4, "predict"],
        ],
        [[6, 2, "MatMul"]],
      ],
      [[], [[1, 3, "fit"]]],
    ]);
    const slices = await decodeTrace(header, [payload]);
    expect([...slices.start]).toEqual([5, 20, 6, 1]);
    expect([0, 1, 2, 3].map((i) => slices.durationOf(i))).toEqual([10, 4, 2, 3]);
    expect([...slices.name].map((name) => header.names[name])).toEqual(["fit", "predict", "MatMul", "fit"]);
    expect([...slices.lanes]).toEqual([0, 2, 3, 3, 4]);
    expect([0, 1, 2, 3].map((i) => slices.laneOf(i))).toEqual([0, 0, 1, 3]);
  });

  it("keeps times beyond 32 bits and names beyond one byte", async () => {
    const lane = Array.from({ length: 300 }, (_, k) => [k * 10, 1, `op ${k}`] as [number, number, string]);
    const long = 2 ** 45 + 3;
    const { header, payload } = await encode([[lane, [[long, long, "op 7"]]]]);
    const slices = await decodeTrace(header, [payload]);
    expect(slices.start[300]).toBe(long);
    expect(slices.durationOf(300)).toBe(long);
    expect(header.names[slices.nameOf(299)]).toBe("op 299");
  });

  it("joins a payload that arrived in parts", async () => {
    const { header, payload } = await encode([[[[1, 2, "a"]]]]);
    const parts = Array.from(payload, (byte) => Uint8Array.of(byte));
    expect([...(await decodeTrace(header, parts)).start]).toEqual([1]);
  });

  it("reads a trace without events", async () => {
    const { header } = await encode([]);
    expect((await decodeTrace(header, [])).count).toBe(0);
  });

  it.each([
    [{ version: 2 }, "version 2"],
    [{ events: 2 }, "did not arrive"],
    [{ tracks: [] }, "another number of events"],
  ])("refuses a header with %o", async (change, message) => {
    const { header, payload } = await encode([[[[1, 2, "a"]]]]);
    await expect(decodeTrace({ ...header, ...change }, [payload])).rejects.toThrow(message);
  });

  it("refuses a damaged payload", async () => {
    const { header, payload } = await encode([[[[1, 2, "a"]]]]);
    await expect(decodeTrace(header, [payload.slice(0, 10)])).rejects.toThrow("did not arrive");
  });
});

// tests/analysis/trace/test_encoding.py checks that Python writes this file from the same program.
describe("what Python writes", () => {
  const { names } = encoded.whole.header;
  const US = 1_000_000;
  const read = (slices: Slices) =>
    Array.from(slices.start, (start, i) => [
      slices.laneOf(i),
      start,
      slices.durationOf(i),
      names[slices.nameOf(i)],
    ]);

  it("is read back: lanes, names, and times beyond 32 bits", async () => {
    const { header, payload } = encoded.whole;
    const slices = await decodeTrace(header as Header, [bytesOf(payload)]);
    const kernels = Array.from({ length: 20 }, (_, k) =>
      k === 7 ? [0, 14 * US, 1.5 * US, "copy"] : [0, 2 * k * US, US, "gemm"],
    );
    expect(read(slices)).toEqual([
      ...kernels,
      [1, 5, 100 * US, "fit"],
      [2, 1 * US, 2 * US, "MatMul"],
      [2, 10 * US, 4 * US, "Ünï"],
      [3, 10_000_000 * US, 300_000 * US + 1, "long"],
    ]);
  });

  it("says of merged slices how many events they stand for, which is the longest, and how busy they were", async () => {
    const { header, payload } = encoded.merged;
    const slices = await decodeTrace(header as Header, [bytesOf(payload)]);
    expect(read(slices)).toEqual([
      [0, 0, 39 * US, "copy"],
      [1, 5, 100 * US, "fit"],
      [2, 1 * US, 13 * US, "Ünï"],
      [3, 10_000_000 * US, 300_000 * US + 1, "long"],
    ]);
    expect([0, 1, 2, 3].map((i) => slices.eventOf(i))).toEqual([7, 20, 22, 23]);
    expect([0, 1, 2, 3].map((i) => slices.eventsIn(i))).toEqual([20, 1, 2, 1]);
    // 20.5 of 39 µs and 6 of 13 µs, rounded up to 255ths.
    expect([0, 1, 2, 3].map((i) => 255 * slices.fillOf(i))).toEqual([135, 255, 118, 255]);
  });

  it("has in a tile what is at least partly in its range", async () => {
    const { header, payload } = encoded.tile;
    const slices = await decodeTile(header, [bytesOf(payload)]);
    expect(read(slices).map(([lane, start]) => [lane, start])).toEqual([
      ...[10, 12, 14, 16, 18, 20].map((us) => [0, us * US]),
      [1, 5],
      [2, 10 * US],
    ]);
    expect(Array.from(slices.start, (_, i) => slices.eventOf(i))).toEqual([5, 6, 7, 8, 9, 10, 20, 22]);
  });
});
