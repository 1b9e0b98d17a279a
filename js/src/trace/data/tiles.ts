import { debounce } from "../../lib/dom";
import { type Picoseconds, type TraceTime, toPicoseconds, toTraceTime } from "../../lib/units";
import type { Viewport } from "../viewport";
import type { Header } from "./header";
import type { Slices } from "./slices";

/** The part of the trace that a tile is wanted of, and into how many bins of equal length it is divided. */
export interface TileRequest {
  start_ps: Picoseconds;
  end_ps: Picoseconds;
  bins: number;
}

/** Where tiles come from. Not every request is answered: the kernel may be gone. */
export interface TileSource {
  askForTile(request: TileRequest, onLoaded: (slices: Slices) => void): void;
}

/** A part of the trace. */
interface Part {
  start: TraceTime;
  end: TraceTime;
  /** Events shorter than this are merged. */
  bin: TraceTime;
}

interface Loaded extends Part {
  slices: Slices;
}

// A tile reaches one window further on both sides, in bins of half a pixel or less.
const WINDOWS = 3;
const BINS_PER_PX = 2;
const REQUEST_AFTER_MS = 60;
const MAX_TILES = 8;

/**
 * The finest slices there are. A trace that is too large to be sent whole comes as a coarse level; tiles are requested
 * where the coarse level shows less than a pixel could.
 */
export class Tiles {
  private readonly tiles: Loaded[] = [];
  private readonly coarse: Loaded;
  /** The last request, until it is answered. */
  private pending: Part | null = null;
  private readonly requestSoon: () => void;

  constructor(
    private readonly header: Header,
    private readonly viewport: Viewport,
    slices: Slices,
    private readonly source: TileSource,
    private readonly onLoaded: () => void,
    signal: AbortSignal,
  ) {
    const bin = toTraceTime(header.bin_ps ?? 0, header.unit_ps);
    this.coarse = { slices, start: 0, end: viewport.span, bin };
    this.requestSoon = debounce(() => this.request(), REQUEST_AFTER_MS, signal);
  }

  /** The finest slices for the visible range. Requests finer ones if they would show more. */
  current(): Loaded {
    const best = this.tiles
      .filter((tile) => this.covers(tile))
      .reduce((a, b) => (b.bin < a.bin ? b : a), this.coarse);
    if (best.bin > this.viewport.timePerPx) this.requestSoon();
    return best;
  }

  private covers({ start, end }: Part): boolean {
    return start <= this.viewport.start && end >= this.viewport.end;
  }

  private request(): void {
    const { start, end, length, width, span, timePerPx } = this.viewport;
    if (this.pending && this.covers(this.pending) && this.pending.bin <= timePerPx) return;
    const margin = ((WINDOWS - 1) / 2) * length;
    const bins = 2 ** Math.ceil(Math.log2(width * WINDOWS * BINS_PER_PX));
    const [from, to] = [Math.max(start - margin, 0), Math.min(end + margin, span)];
    const part: Part = { start: from, end: to, bin: (to - from) / bins };
    this.pending = part;
    const unit = this.header.unit_ps;
    const [start_ps, end_ps] = [Math.floor(toPicoseconds(from, unit)), Math.ceil(toPicoseconds(to, unit))];
    this.source.askForTile({ start_ps, end_ps, bins }, (slices) => this.add(part, slices));
  }

  private add(part: Part, slices: Slices): void {
    if (part !== this.pending) return;
    this.pending = null;
    this.tiles.unshift({ ...part, slices });
    this.tiles.length = Math.min(this.tiles.length, MAX_TILES);
    this.onLoaded();
  }
}
