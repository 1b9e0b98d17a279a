import { button, element } from "../../lib/dom";
import { grouped } from "../../lib/format";
import type { Header } from "../data/header";

/** Flags the names that contain `text`, in any case. */
export function matchNames(names: readonly string[], text: string): Uint8Array {
  const wanted = text.toLowerCase();
  return Uint8Array.from(names, (name) => Number(name.toLowerCase().includes(wanted)));
}

// Which of several inputs a stage of tf.data is on, in the name of its events.
const BRANCH = /\[\d+\]/g;

/**
 * Flags the names of one op, function or stage: the name alone, followed by the op's type ("name:type"), or with the
 * numbers of branches ("Zip[1]::Map" for "Zip::Map").
 */
export function matchOp(names: readonly string[], op: string): Uint8Array {
  const typed = (name: string) => name.startsWith(`${op}:`) && name[op.length + 1] !== ":"; // "::" leads to a stage
  const is = (name: string) => name === op || typed(name) || name.replace(BRANCH, "") === op;
  return Uint8Array.from(names, (name) => Number(is(name)));
}

/** What a search does. */
export interface SearchActions {
  /** Highlights the flagged names, or none. Returns the number of slices that have them. */
  highlight(names: Uint8Array | null): number;
  nextMatch(names: Uint8Array, direction: 1 | -1): void;
  /** The user, not the kernel, changed the search. */
  typed(): void;
  /** The user left the search box by Escape; the focus was elsewhere before, or nowhere. */
  left(before: EventTarget | null): void;
}

/** The search box: highlights events by name and steps through the hits. */
export class Search {
  readonly input = element("input", {
    type: "search",
    class: "tfp-input",
    placeholder: "Search events",
    "aria-label": "Search events by name",
  });
  private readonly hits = element("span", { class: "tfp-muted tfp-hits" });
  private readonly previous = button("‹", "Previous hit (Shift + Enter)", () => this.step(-1));
  private readonly next = button("›", "Next hit (Enter)", () => this.step(1));
  readonly parts = [this.input, this.previous, this.next, this.hits];
  /** Flags the names that match; null without a search. */
  names: Uint8Array | null = null;
  private before: EventTarget | null = null;
  private count = 0;

  constructor(
    private readonly header: Pick<Header, "names" | "name_events">,
    private readonly actions: SearchActions,
    signal: AbortSignal,
  ) {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.set("");
        actions.typed();
        actions.left(this.before);
      }
      event.stopPropagation();
    };
    const onInput = () => {
      this.set(this.input.value);
      actions.typed();
    };
    const onFocus = ({ relatedTarget }: FocusEvent) => {
      this.before = relatedTarget;
    };
    this.input.addEventListener("focus", onFocus, { signal });
    this.input.addEventListener("keydown", onKey, { signal });
    this.input.addEventListener("input", onInput, { signal });
    this.previous.hidden = this.next.hidden = true;
  }

  /** Searches for `text` with a matching function; the empty text ends the search. */
  set(text: string, match = matchNames): void {
    if (this.input.value !== text) this.input.value = text;
    this.names = text ? match(this.header.names, text) : null;
    const slices = this.actions.highlight(this.names);
    const hits = this.eventsOf(this.names) ?? slices;
    this.count = hits;
    this.at(null);
    this.previous.hidden = this.next.hidden = !this.names;
    this.previous.disabled = this.next.disabled = hits === 0;
  }

  /** Says at which of the hits the viewer is, counted from 1; null if it is at none. */
  at(position: number | null): void {
    const hits = `${grouped(this.count)} ${this.count === 1 ? "hit" : "hits"}`;
    const told = position === null ? hits : `${grouped(position)} of ${grouped(this.count)}`;
    this.hits.textContent = this.names ? told : "";
  }

  /** The number of events with the flagged names, if the header has it: slices can stand for several. */
  private eventsOf(names: Uint8Array | null): number | undefined {
    return this.header.name_events?.reduce((sum, count, name) => sum + (names?.[name] ? count : 0), 0);
  }

  private step(direction: 1 | -1): void {
    if (this.names) this.actions.nextMatch(this.names, direction);
  }
}
