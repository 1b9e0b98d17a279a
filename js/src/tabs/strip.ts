import { element } from "../lib/dom";
import { paneClass } from "./panes";

const RETRY_MS = 50;
const ATTEMPTS = 60;

/** The page that a key goes to from the selected one. */
export function pageOfKey(key: string, selected: number, last: number): number | undefined {
  const targets: Record<string, number> = {
    ArrowRight: selected === last ? 0 : selected + 1,
    ArrowLeft: selected === 0 ? last : selected - 1,
    Home: 0,
    End: last,
  };
  return targets[key];
}

/** A row of tabs (ARIA tabs pattern). */
export class Strip {
  readonly root: HTMLElement;
  private readonly tabs: HTMLElement[];
  private selected = 0;

  constructor(
    names: string[],
    private readonly uid: string,
    private readonly choose: (index: number) => void,
    private readonly signal: AbortSignal,
  ) {
    this.tabs = names.map((name, index) => this.tab(name, index));
    this.root = element("div", { class: "tfp-tabs", role: "tablist", "aria-label": "Pages" }, ...this.tabs);
    this.root.addEventListener("keydown", (event) => this.onKey(event), { signal });
    this.label(ATTEMPTS);
  }

  show(selected: number): void {
    this.selected = selected;
    this.tabs.forEach((tab, index) => {
      tab.setAttribute("aria-selected", String(index === selected));
      tab.tabIndex = index === selected ? 0 : -1;
    });
  }

  private tab(name: string, index: number): HTMLElement {
    const id = `tfp-tab-${this.uid}-${index}`;
    const tab = element("button", { type: "button", class: "tfp-tab", role: "tab", id }, name);
    tab.addEventListener("click", () => this.choose(index));
    return tab;
  }

  private onKey(event: KeyboardEvent): void {
    const target = pageOfKey(event.key, this.selected, this.tabs.length - 1);
    if (target === undefined) return;
    this.choose(target);
    this.tabs[target]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** Names the panes for assistive technology as soon as they are all in the page. */
  private label(attempts: number): void {
    if (this.signal.aborted) return;
    let missing = false;
    this.tabs.forEach((tab, index) => {
      const pane = document.querySelector(`.${paneClass(this.uid, index)}`);
      missing ||= !pane;
      if (!pane) return;
      pane.id ||= `tfp-panel-${this.uid}-${index}`;
      pane.setAttribute("role", "tabpanel");
      pane.setAttribute("aria-labelledby", tab.id);
      tab.setAttribute("aria-controls", pane.id);
    });
    if (missing && attempts > 1) setTimeout(() => this.label(attempts - 1), RETRY_MS);
  }
}
