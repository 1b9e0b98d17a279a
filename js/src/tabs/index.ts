import "../lib/theme.css";
import "./tabs.css";
import { element, OWN_KEYS } from "../lib/dom";
import { listen, type Model, push, type RenderProps } from "../lib/host";
import { hideStaticForm } from "../lib/reveal";
import { followTheme } from "../lib/theme";

export interface Traits {
  names: string[];
  selected: number;
  /** Letters and digits, unique in the page. */
  uid: string;
  static_id: string;
}

const RETRY_MS = 50;
const ATTEMPTS = 60;

/** The CSS class of pane `index` of the strip `uid`. */
export function paneClass(uid: string, index: number): string {
  return `tfp-pane-${uid}-${index}`;
}

/**
 * A strip of tabs (ARIA tabs pattern) over panes that are elements elsewhere in the page. A style rule hides all panes
 * but one: that needs no kernel, works before the panes exist and whenever the notebook draws them anew.
 */
class TabStrip {
  private readonly tabs: HTMLElement[];
  private readonly rule = element("style");

  constructor(
    root: HTMLElement,
    private readonly model: Model<Traits>,
    private readonly signal: AbortSignal,
  ) {
    this.tabs = model.get("names").map((name, index) => this.tab(name, index));
    const strip = element("div", { class: "tfp-tabs", role: "tablist" }, ...this.tabs);
    strip.addEventListener("keydown", (event) => this.onKey(event), { signal });
    root.append(this.rule, strip);
    listen(model, "change:selected", () => this.show(), signal);
    this.show();
    this.label(ATTEMPTS);
  }

  private tab(name: string, index: number): HTMLElement {
    const uid = this.model.get("uid");
    const id = `tfp-tab-${uid}-${index}`;
    const tab = element("button", { ...OWN_KEYS, type: "button", class: "tfp-tab", role: "tab", id }, name);
    tab.addEventListener("click", () => push(this.model, "selected", index));
    return tab;
  }

  private show(): void {
    const uid = this.model.get("uid");
    const selected = this.model.get("selected");
    this.tabs.forEach((tab, index) => {
      tab.setAttribute("aria-selected", String(index === selected));
      tab.tabIndex = index === selected ? 0 : -1;
    });
    const others = `[class*="${paneClass(uid, 0).slice(0, -1)}"]:not(.${paneClass(uid, selected)})`;
    this.rule.textContent = `${others} { display: none !important; }`;
    // Charts that were hidden have no size yet: they lay themselves out when the window changes.
    requestAnimationFrame(() => window.dispatchEvent(new Event("resize")));
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.tabs.length - 1;
    const selected = this.model.get("selected");
    const targets: Record<string, number> = {
      ArrowRight: selected === last ? 0 : selected + 1,
      ArrowLeft: selected === 0 ? last : selected - 1,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    push(this.model, "selected", target);
    this.tabs[target].focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** Names the panes for assistive technology as soon as they are all in the page. */
  private label(attempts: number): void {
    if (this.signal.aborted) return;
    const uid = this.model.get("uid");
    const panes = this.tabs.map((_, index) =>
      document.querySelector<HTMLElement>(`.${paneClass(uid, index)}`),
    );
    panes.forEach((pane, index) => {
      if (!pane) return;
      pane.id ||= `tfp-panel-${uid}-${index}`;
      pane.setAttribute("role", "tabpanel");
      pane.setAttribute("aria-labelledby", this.tabs[index].id);
      this.tabs[index].setAttribute("aria-controls", pane.id);
    });
    if (panes.includes(null) && attempts > 1) setTimeout(() => this.label(attempts - 1), RETRY_MS);
  }
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const done = new AbortController();
  const root = element("div", { class: "tfp" });
  el.append(root);
  followTheme(root, done.signal, () => {});
  new TabStrip(root, model, done.signal);
  hideStaticForm(model.get("static_id"), done.signal);
  return () => {
    done.abort();
    root.remove();
  };
}

export default { render };
