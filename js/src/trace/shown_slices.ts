import { element } from "../lib/dom";
import { duration, grouped } from "../lib/format";
import { type Picoseconds, type TraceTime, toPicoseconds, toTraceTime } from "../lib/units";
import type { Slices } from "./data/slices";
import type { Tiles } from "./data/tiles";
import type { State } from "./state";
import type { Filters } from "./ui/filters";
import type { Search } from "./ui/search";

/** Chooses the slices that are drawn: the finest there are, without those that the filter leaves out. */
export class ShownSlices {
  /** Says which events are merged. */
  readonly notice = element("p", { class: "tfp-note tfp-muted", hidden: true });
  private last: { of: Slices; shortest_ps: Picoseconds; names: Uint8Array | null; slices: Slices } | null =
    null;

  constructor(
    private readonly state: State,
    private readonly tiles: Pick<Tiles, "current">,
    private readonly filters: Filters,
    private readonly search: Pick<Search, "names">,
  ) {}

  update(): void {
    const { slices, bin } = this.tiles.current();
    this.state.setSlices(this.filtered(slices));
    this.explainMerging(bin);
  }

  private filtered(of: Slices): Slices {
    const { shortest_ps, onlyHits } = this.filters.filter;
    const names = onlyHits ? this.search.names : null;
    if (!shortest_ps && !names) {
      this.filters.summarize("");
      return of;
    }
    if (this.last?.of !== of || this.last.shortest_ps !== shortest_ps || this.last.names !== names) {
      const shortest = toTraceTime(shortest_ps, this.state.header.unit_ps);
      const slices = of.filter(
        (slice) => of.durationOf(slice) >= shortest && (!names || names[of.nameOf(slice)] === 1),
      );
      this.last = { of, shortest_ps, names, slices };
    }
    const { slices } = this.last;
    this.filters.summarize(`${grouped(slices.count)} of ${grouped(of.count)} shown`);
    return slices;
  }

  private explainMerging(bin: TraceTime): void {
    const { header, viewport } = this.state;
    this.notice.hidden = !(header.merged && bin > 0);
    const more = header.alone
      ? " The viewer in the notebook shows them all."
      : " The kernel sends more detail when it is free.";
    const events = `Of ${grouped(header.captured ?? header.events)} events, those shorter than`;
    const length = duration(toPicoseconds(bin, header.unit_ps));
    const text = `${events} ${length} are drawn merged with their neighbours.`;
    this.notice.textContent = text + (bin > viewport.timePerPx ? more : "");
  }
}
