import { listen, type Model, push } from "../lib/host";
import { type Picoseconds, toPicoseconds, toTraceTime } from "../lib/units";
import type { Header } from "./data/header";
import type { Navigation } from "./navigation";
import type { State } from "./state";
import { matchOp, type Search } from "./ui/search";

type TimeRange = [Picoseconds, Picoseconds];

export interface Traits {
  header: Header;
  payload: BlobPart[];
  /** The visible range; null for everything, and until somebody moves away from the steps that are shown at first. */
  time_range: TimeRange | null;
  selected_event: number | null;
  /** The events of this name are highlighted. */
  selected_name: string | null;
  height: number;
}

/** Keeps the view and the traits that it shares with the kernel the same. */
export class LinkedTraits {
  private sending = false;
  /** What is shown at first. */
  private opening: TimeRange | null = null;

  constructor(
    private readonly model: Model<Traits>,
    private readonly state: State,
    private readonly navigation: Navigation,
    private readonly search: Search,
  ) {}

  /** Takes the traits as they are now, and from now on whenever they change. */
  follow(signal: AbortSignal): void {
    listen(this.model, "change:time_range", () => this.takeRange(), signal);
    listen(this.model, "change:selected_event", () => this.takeEvent(), signal);
    listen(this.model, "change:selected_name", () => this.takeName(), signal);
    if (this.model.get("time_range")) this.takeRange();
    else this.navigation.showSteps();
    this.opening = this.visible;
    this.takeName();
    this.takeEvent();
  }

  sendRange(): void {
    const range = this.visible;
    if (this.model.get("time_range") === null && String(range) === String(this.opening)) return;
    this.sending = true;
    push(this.model, "time_range", range);
    this.sending = false;
  }

  sendEvent(event: number | null): void {
    push(this.model, "selected_event", event);
  }

  sendName(name: string | null): void {
    push(this.model, "selected_name", name);
  }

  /** Highlights all events of a name. */
  highlight(name: string): void {
    this.sendName(name);
    this.takeName();
  }

  private get visible(): TimeRange | null {
    const { viewport, header } = this.state;
    // Rounded to whole picoseconds, times stay the same there and back, so that two views of one model come to rest.
    const ps = (time: number) => Math.round(toPicoseconds(time, header.unit_ps));
    return this.navigation.showsAll ? null : [ps(viewport.start), ps(viewport.end)];
  }

  private takeRange(): void {
    if (this.sending) return;
    const range = this.model.get("time_range");
    const unit = this.state.header.unit_ps;
    if (range) this.navigation.show(toTraceTime(range[0], unit), toTraceTime(range[1], unit));
    else this.navigation.showAll();
  }

  private takeEvent(): void {
    this.navigation.selectEvent(this.model.get("selected_event"));
  }

  private takeName(): void {
    const name = this.model.get("selected_name");
    const typing = this.search.input === document.activeElement;
    if (name !== null) this.search.set(name, matchOp);
    else if (this.state.highlight && !typing) this.search.set("");
  }
}
