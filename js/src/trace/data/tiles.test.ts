import { describe, expect, it, vi } from "vitest";
import { at } from "../../lib/at";
import { Viewport } from "../viewport";
import type { Header } from "./header";
import { Slices } from "./slices";
import { type TileRequest, Tiles } from "./tiles";

const slices = () =>
  new Slices(new Float64Array(), new Float64Array(1), new Uint32Array(), new Uint32Array(2));

function tiled(merged = true) {
  vi.useFakeTimers();
  const viewport = new Viewport(1e6, 1);
  viewport.width = 1000;
  const header = { unit_ps: 1000, merged, bin_ps: merged ? 100_000 : 0 } as Header;
  const asked: TileRequest[] = [];
  const answers: ((slices: Slices) => void)[] = [];
  const coarse = slices();
  const source = {
    askForTile(request: TileRequest, onLoaded: (slices: Slices) => void) {
      asked.push(request);
      answers.push(onLoaded);
    },
  };
  const loaded = vi.fn();
  const tiles = new Tiles(header, viewport, coarse, source, loaded, new AbortController().signal);
  const look = (start: number, end: number) => {
    viewport.show(start, end);
    const found = tiles.current();
    vi.runAllTimers();
    return found.slices;
  };
  /** Answers the n-th question. */
  const answer = (n: number, finer: Slices) => at(answers, n - 1)(finer);
  return { asked, answer, coarse, loaded, look };
}

describe("Tiles", () => {
  it("are not requested while the coarse level shows every pixel", () => {
    const { asked, coarse, look } = tiled();
    expect(look(0, 1e6)).toBe(coarse);
    expect(asked).toEqual([]);
  });

  it("are not requested of a trace that was sent whole", () => {
    const { asked, look } = tiled(false);
    look(0, 10);
    expect(asked).toEqual([]);
  });

  it("are requested for the range and its surroundings; until the answer comes, the coarse level is drawn", () => {
    const { answer, asked, coarse, loaded, look } = tiled();
    expect(look(500_000, 510_000)).toBe(coarse);
    expect(asked).toEqual([{ start_ps: 490e6, end_ps: 520e6, bins: 8192 }]);
    const finer = slices();
    answer(1, finer);
    expect(loaded).toHaveBeenCalledOnce();
    expect(look(500_000, 510_000)).toBe(finer);
    expect(look(495_000, 505_000)).toBe(finer);
    expect(asked).toHaveLength(1);
  });

  it("are requested again further away and closer, and kept", () => {
    const { answer, asked, coarse, look } = tiled();
    look(500_000, 510_000);
    const finer = slices();
    answer(1, finer);
    expect(look(700_000, 710_000)).toBe(coarse);
    expect(look(505_000, 505_100)).toBe(finer);
    expect(asked).toHaveLength(3);
    answer(3, slices());
    expect(look(500_000, 510_000)).toBe(finer);
  });

  it("are not requested twice, and dropped if another part was requested since", () => {
    const { answer, asked, coarse, loaded, look } = tiled();
    look(500_000, 510_000);
    look(501_000, 511_000);
    expect(asked).toHaveLength(1);
    look(100_000, 110_000);
    answer(1, slices());
    expect(loaded).not.toHaveBeenCalled();
    expect(look(500_000, 510_000)).toBe(coarse);
  });
});
