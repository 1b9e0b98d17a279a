import { describe, expect, it } from "vitest";
import { decodeTrace } from "./decode";
import { encode } from "./encode.testing";

describe("decodeTrace", () => {
  it("gives starts, durations and names of every lane", async () => {
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
    const events = await decodeTrace(header, [payload]);
    expect([...events.start]).toEqual([5, 20, 6, 1]);
    expect([0, 1, 2, 3].map((i) => events.duration(i))).toEqual([10, 4, 2, 3]);
    expect([...events.name].map((name) => header.names[name])).toEqual(["fit", "predict", "MatMul", "fit"]);
    expect([...events.lanes]).toEqual([0, 2, 3, 3, 4]);
    expect([0, 1, 2, 3].map((i) => events.laneOf(i))).toEqual([0, 0, 1, 3]);
  });

  it("keeps times beyond 32 bits and names beyond one byte", async () => {
    const lane = Array.from({ length: 300 }, (_, k) => [k * 10, 1, `op ${k}`] as [number, number, string]);
    const long = 2 ** 45 + 3;
    const { header, payload } = await encode([[lane, [[long, long, "op 7"]]]]);
    const events = await decodeTrace(header, [payload]);
    expect(events.start[300]).toBe(long);
    expect(events.duration(300)).toBe(long);
    expect(header.names[events.name[299]]).toBe("op 299");
  });

  it("joins a payload that came in parts", async () => {
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
    [{ events: 2 }, "did not arrive whole"],
    [{ tracks: [] }, "do not add up"],
  ])("refuses a header with %o", async (change, message) => {
    const { header, payload } = await encode([[[[1, 2, "a"]]]]);
    await expect(decodeTrace({ ...header, ...change }, [payload])).rejects.toThrow(message);
  });

  it("refuses a damaged payload", async () => {
    const { header, payload } = await encode([[[[1, 2, "a"]]]]);
    await expect(decodeTrace(header, [payload.slice(0, 10)])).rejects.toThrow("did not arrive whole");
  });
});
