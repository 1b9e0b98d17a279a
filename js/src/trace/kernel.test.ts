import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeModel } from "../lib/model.testing";
import { Kernel } from "./kernel";

const TILE = { type: "tile", start_ps: 0, end_ps: 10, lanes: [0, 0], events: 0 };
const REQUEST = { start_ps: 0, end_ps: 10, bins: 4 };
let model: FakeModel<object>;
let lifetime: AbortController;
let kernel: Kernel;

beforeEach(() => {
  model = new FakeModel<object>({});
  lifetime = new AbortController();
  kernel = new Kernel(model, lifetime.signal);
});

const answer = (message: object) => model.emit("msg:custom", message);

describe("the kernel", () => {
  it("is asked with ids that count over all types of questions", () => {
    kernel.ask("place", { event: 7 }, () => {});
    kernel.askForTile(REQUEST, () => {});
    expect(model.sent).toEqual([
      { type: "place", event: 7, id: 1 },
      { type: "tile", ...REQUEST, id: 2 },
    ]);
  });

  it("is heard on the last question of each type, and on no earlier one", () => {
    const [first, second, other] = [vi.fn(), vi.fn(), vi.fn()];
    const wanted = { after: 7, start_ps: 100, direction: 1 } as const;
    kernel.ask("find", { ...wanted, names: [3] }, first);
    kernel.ask("find", { ...wanted, names: [4] }, second);
    kernel.ask("place", { event: 7 }, other);
    answer({ type: "find", id: 1, found: null });
    answer({ type: "place", id: 3, found: null });
    answer({ type: "find", id: 2, found: null });
    answer({ type: "totals", id: 3, rows: [] });
    expect([first, second, other].map((heard) => heard.mock.calls.length)).toEqual([0, 1, 1]);
  });

  it("answers on details twice: the line of code follows", () => {
    const lines: unknown[] = [];
    kernel.ask("details", { event: 7 }, (found) => lines.push("line" in found ? found.line : found.stats));
    answer({ type: "details", id: 1, stats: { shape: "(2,3)" } });
    answer({ type: "source", id: 1, line: "cell line 4" });
    answer({ type: "source", id: 0, line: "cell line 1" });
    expect(lines).toEqual([{ shape: "(2,3)" }, "cell line 4"]);
  });

  it("adds up a range in picoseconds", () => {
    const shown = vi.fn();
    kernel.askForTotals({ start: 2, end: 5, tracks: new Set([1]) }, 1000, shown);
    expect(model.sent).toEqual([{ type: "totals", start_ps: 2000, end_ps: 5000, tracks: [1], id: 1 }]);
    answer({ type: "totals", id: 1, rows: [{ name: "fit", count: 3, total_ms: 2, self_ms: 0.5 }] });
    expect(shown).toHaveBeenCalledWith([{ name: "fit", count: 3, total: 2e9, self: 5e8 }]);
  });

  it("sends tiles, which are decoded", async () => {
    const loaded = vi.fn();
    kernel.askForTile(REQUEST, loaded);
    answer({ ...TILE, id: 1 });
    await vi.waitFor(() => expect(loaded).toHaveBeenCalledOnce());
    expect(loaded.mock.calls[0]?.[0].laneCount).toBe(2);
  });

  it("is not heard any more after the end", async () => {
    const loaded = vi.fn();
    kernel.askForTile(REQUEST, loaded);
    answer({ ...TILE, id: 1 });
    lifetime.abort();
    expect(model.listening).toBe(0);
    await new Promise((resolve) => setTimeout(resolve));
    expect(loaded).not.toHaveBeenCalled();
  });

  it("may send a damaged tile, which leaves everything as it is", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const loaded = vi.fn();
    kernel.askForTile(REQUEST, loaded);
    answer({ ...TILE, id: 1, events: 3 });
    await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
    expect(loaded).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
