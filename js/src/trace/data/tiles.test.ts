import { describe, expect, it, vi } from "vitest";
import { Viewport } from "../viewport";
import type { Header } from "./header";
import { Events } from "./slices";
import { type TileRequest, Tiles } from "./tiles";

const events = () =>
  new Events(new Float64Array(), new Float64Array(1), new Uint32Array(), new Uint32Array(2));

function tiled(merged = true) {
  vi.useFakeTimers();
  const viewport = new Viewport(1e6, 1);
  viewport.width = 1000;
  const header = { unit_ps: 1000, merged, bin_ps: merged ? 100_000 : 0 } as Header;
  const asked: TileRequest[] = [];
  const coarse = events();
  const tiles = new Tiles(
    header,
    viewport,
    coarse,
    (request) => asked.push(request),
    new AbortController().signal,
  );
  const look = (start: number, end: number) => {
    viewport.show(start, end);
    const found = tiles.current();
    vi.runAllTimers();
    return found;
  };
  return { tiles, asked, coarse, look };
}

describe("Tiles", () => {
  it("ask for nothing while the coarse level shows every pixel", () => {
    const { asked, coarse, look } = tiled();
    expect(look(0, 1e6).events).toBe(coarse);
    expect(asked).toEqual([]);
  });

  it("ask for nothing of a whole trace", () => {
    const { asked, look } = tiled(false);
    look(0, 10);
    expect(asked).toEqual([]);
  });

  it("ask for the range and its surroundings, and draw the coarse level until the answer comes", () => {
    const { tiles, asked, coarse, look } = tiled();
    expect(look(500_000, 510_000).events).toBe(coarse);
    expect(asked).toEqual([{ type: "tile", id: 1, start_ps: 490e6, end_ps: 520e6, bins: 8192 }]);
    const finer = events();
    tiles.receive(1, finer);
    expect(look(500_000, 510_000).events).toBe(finer);
    expect(look(495_000, 505_000).events).toBe(finer);
    expect(asked).toHaveLength(1);
  });

  it("ask again further away and closer, and keep what they have", () => {
    const { tiles, asked, coarse, look } = tiled();
    look(500_000, 510_000);
    const finer = events();
    tiles.receive(1, finer);
    expect(look(700_000, 710_000).events).toBe(coarse);
    expect(look(505_000, 505_100).events).toBe(finer);
    expect(asked.map(({ id }) => id)).toEqual([1, 2, 3]);
    tiles.receive(3, events());
    expect(look(500_000, 510_000).events).toBe(finer);
  });

  it("do not repeat a question that is not answered yet, nor take an answer that nobody waits for", () => {
    const { tiles, asked, coarse, look } = tiled();
    look(500_000, 510_000);
    look(501_000, 511_000);
    expect(asked).toHaveLength(1);
    look(100_000, 110_000);
    tiles.receive(1, events());
    expect(look(500_000, 510_000).events).toBe(coarse);
  });
});
