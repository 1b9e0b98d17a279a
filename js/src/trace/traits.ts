import { listen, type Model, push } from "../lib/host";
import { type Picoseconds, toPicoseconds, toTraceTime } from "../lib/units";
import type { Header } from "./data/header";
import type { Navigation } from "./navigation";
import type { State } from "./state";
import { matchOp, type Search } from "./ui/search";

export interface Traits {
  header: Header;
  payload: BlobPart[];
  /** The visible range; null for everything. */
  time_range: [Picoseconds, Picoseconds] | null;
  selected_event: number | null;
  /** The events of this name are highlighted. */
  selected_name: string | null;
  height: number;
}

/** Keeps the view and the traits that it shares with the kernel the same. */
export class LinkedTraits {
  private sending = false;

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
    this.takeRange();
    this.takeName();
    this.takeEvent();
  }

  sendRange(): void {
    const { viewport, header } = this.state;
    // Rounded to whole picoseconds, times stay the same there and back, so that two views of one model come to rest.
    const ps = (time: number) => Math.round(toPicoseconds(time, header.unit_ps));
    this.sending = true;
    push(this.model, "time_range", this.navigation.showsAll ? null : [ps(viewport.start), ps(viewport.end)]);
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
