import { button, element, OWN_KEYS } from "../../lib/dom";
import { grouped } from "../../lib/format";
import type { Viewer } from "../state";

/** Flags the names that contain `text`, in any case. */
export function matchNames(names: readonly string[], text: string): Uint8Array {
  const wanted = text.toLowerCase();
  return Uint8Array.from(names, (name) => Number(name.toLowerCase().includes(wanted)));
}

/** Flags the events of one op or function: those that are called so, or so followed by the op's type ("name:type"). */
export function matchOp(names: readonly string[], op: string): Uint8Array {
  return Uint8Array.from(names, (name) => Number(name === op || name.startsWith(`${op}:`)));
}

/** The search box: highlights events by name and steps through the hits. */
export class Search {
  readonly input = element("input", {
    ...OWN_KEYS,
    type: "search",
    class: "tfp-input",
    placeholder: "Search events",
    "aria-label": "Search events by name",
  });
  private readonly hits = element("span", { class: "tfp-muted tfp-hits" });
  private readonly previous = button("‹", "Previous hit (Shift + Enter)", () => this.step(-1));
  private readonly next = button("›", "Next hit (Enter)", () => this.step(1));
  /** Flags the names searched for; null without a search. */
  names: Uint8Array | null = null;
  readonly parts = [this.input, this.previous, this.next, this.hits];

  constructor(
    private readonly viewer: Viewer,
    private readonly onSet: () => void,
    onType: () => void,
    onLeave: () => void,
    signal: AbortSignal,
  ) {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.set("");
        onType();
        onLeave();
      }
      event.stopPropagation();
    };
    const onInput = () => {
      this.set(this.input.value);
      onType();
    };
    this.input.addEventListener("keydown", onKey, { signal });
    this.input.addEventListener("input", onInput, { signal });
    this.previous.hidden = this.next.hidden = true;
  }

  /** Searches for `text` as `match` understands it; the empty text ends the search. */
  set(text: string, match = matchNames): void {
    if (this.input.value !== text) this.input.value = text;
    const { header } = this.viewer;
    this.names = text ? match(header.names, text) : null;
    this.viewer.setHighlight(this.names);
    const hits = this.hitCount();
    this.hits.textContent = this.names ? `${grouped(hits)} ${hits === 1 ? "hit" : "hits"}` : "";
    this.previous.hidden = this.next.hidden = !this.names;
    this.previous.disabled = this.next.disabled = hits === 0;
    this.onSet();
  }

  /** All hits of the profile, those in merged slices too. */
  private hitCount(): number {
    const { header, highlight, events } = this.viewer;
    const { names } = this;
    if (!names) return 0;
    if (header.name_events)
      return header.name_events.reduce((sum, count, name) => sum + count * names[name], 0);
    return highlight?.sums[events.count] ?? 0;
  }

  private step(direction: 1 | -1): void {
    if (this.names) this.viewer.nextMatch(this.names, direction);
  }
}
