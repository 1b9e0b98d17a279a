import { debounce } from "../../lib/dom";
import type { Viewport } from "../viewport";
import type { Header } from "./header";
import type { Events } from "./slices";

/** What the kernel is asked for. */
export interface TileRequest {
  type: "tile";
  id: number;
  start_ps: number;
  end_ps: number;
  bins: number;
}

interface Loaded {
  events: Events;
  start: number;
  end: number;
  /** Shorter events than this are merged. */
  bin: number;
}

// A tile reaches one window further on both sides, in bins of half a pixel or less.
const WINDOWS = 3;
const BINS_PER_PX = 2;
const SOON_MS = 60;
const MOST_TILES = 8;

/**
 * The slices to draw, of a trace too large to be sent whole: those of the finest tile that covers the visible range, else
 * the coarse level. Asks the kernel for a tile where the coarse level shows less than a pixel could.
 */
export class Tiles {
  private readonly tiles: Loaded[] = [];
  private readonly coarse: Loaded;
  private readonly asked = new Map<number, Omit<Loaded, "events">>();
  private readonly askSoon: () => void;
  private count = 0;

  constructor(
    private readonly header: Header,
    private readonly viewport: Viewport,
    events: Events,
    private readonly ask: (request: TileRequest) => void,
    signal: AbortSignal,
  ) {
    this.coarse = { events, start: 0, end: viewport.span, bin: (header.bin_ps ?? 0) / header.unit_ps };
    this.askSoon = debounce(() => this.request(), SOON_MS, signal);
  }

  /** The best that is there for what is visible now; asks for better. */
  current(): Loaded {
    const { start, end } = this.viewport;
    const best = this.tiles
      .filter((tile) => tile.start <= start && tile.end >= end)
      .reduce((a, b) => (b.bin < a.bin ? b : a), this.coarse);
    if (best.bin > this.perPx) this.askSoon();
    return best;
  }

  /** Whether something finer is on its way, or at least asked for. */
  get waiting(): boolean {
    return this.asked.size > 0;
  }

  receive(id: number, events: Events): void {
    const place = this.asked.get(id);
    if (!place) return;
    this.asked.delete(id);
    this.tiles.unshift({ ...place, events });
    this.tiles.length = Math.min(this.tiles.length, MOST_TILES);
  }

  private get perPx(): number {
    return this.viewport.length / this.viewport.width;
  }

  private request(): void {
    const { start, end, length, width, span } = this.viewport;
    const unit = this.header.unit_ps;
    for (const place of this.asked.values())
      if (place.start <= start && place.end >= end && place.bin <= this.perPx) return;
    const from = Math.max(start - ((WINDOWS - 1) / 2) * length, 0);
    const to = Math.min(end + ((WINDOWS - 1) / 2) * length, span);
    const bins = 2 ** Math.ceil(Math.log2(width * WINDOWS * BINS_PER_PX));
    this.count += 1;
    // Only the newest question counts: a busy kernel answers the others for nothing.
    this.asked.clear();
    this.asked.set(this.count, { start: from, end: to, bin: (to - from) / bins });
    const [start_ps, end_ps] = [Math.floor(from * unit), Math.ceil(to * unit)];
    this.ask({ type: "tile", id: this.count, start_ps, end_ps, bins });
  }
}
