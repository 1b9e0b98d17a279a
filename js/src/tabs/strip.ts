import { element } from "../lib/dom";
import { paneClass } from "./panes";

const RETRY_MS = 50;
const ATTEMPTS = 60;

interface Group {
  name: string;
  pages: number[];
}

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

/** The tabs in their order, each with its pages; without groups each page is a tab. */
function groupsOf(names: string[], groups: string[]): Group[] {
  const found = new Map<string, Group>();
  for (const [page, own] of names.entries()) {
    const name = groups[page] ?? own;
    const group = found.get(name) ?? { name, pages: [] };
    group.pages.push(page);
    found.set(name, group);
  }
  return [...found.values()];
}

/** A row of tabs (ARIA tabs pattern), and below it one for the pages of the chosen tab, if it has several. */
export class Strip {
  readonly root = element("div", { class: "tfp-strip" });
  private readonly groups: Group[];
  /** The tabs of the first row, and those of each page. A tab with one page is both. */
  private readonly first: HTMLElement[];
  private readonly pages: HTMLElement[] = [];
  private readonly second: (HTMLElement | undefined)[];
  /** The page of each tab that was open last. */
  private readonly last: number[];

  constructor(
    private readonly names: string[],
    groups: string[],
    private readonly uid: string,
    private readonly choose: (index: number) => void,
    private readonly signal: AbortSignal,
  ) {
    this.groups = groupsOf(names, groups);
    this.last = this.groups.map(({ pages }) => pages[0] ?? 0);
    this.first = this.groups.map((group, index) => this.groupTab(group, index));
    this.second = this.groups.map((group, index) => this.secondRow(group, index));
    this.root.append(this.row(this.first, { "aria-label": "Pages" }));
    this.root.append(...this.second.filter((row) => row !== undefined));
    this.label(ATTEMPTS);
  }

  show(selected: number): void {
    for (const [index, { pages }] of this.groups.entries()) {
      const open = pages.includes(selected);
      if (open) this.last[index] = selected;
      mark(this.first[index], open);
      const row = this.second[index];
      if (!row) continue;
      row.hidden = !open;
      for (const page of pages) mark(this.pages[page], page === this.last[index]);
    }
  }

  private row(tabs: HTMLElement[], attributes: Record<string, string>): HTMLElement {
    const row = element("div", { class: "tfp-tabs", role: "tablist", ...attributes }, ...tabs);
    row.addEventListener("keydown", (event) => onKey(event, tabs), { signal: this.signal });
    return row;
  }

  private groupTab({ name, pages }: Group, index: number): HTMLElement {
    const [only] = pages;
    if (pages.length === 1 && only !== undefined) {
      const tab = this.pageTab(only, name);
      const page = this.names[only];
      if (page && page !== name) tab.title = page;
      return tab;
    }
    const list = element("span", { class: "tfp-tab-pages", "aria-hidden": "true" });
    list.textContent = pages.map((page) => this.names[page]).join(" · ");
    const tab = this.tab(name, `tfp-group-${this.uid}-${index}`, () => this.choose(this.last[index] ?? 0));
    tab.setAttribute("aria-controls", `tfp-pages-${this.uid}-${index}`);
    tab.append(list);
    return tab;
  }

  private secondRow({ name, pages }: Group, index: number): HTMLElement | undefined {
    if (pages.length === 1) return undefined;
    const tabs = pages.map((page) => this.pageTab(page, this.names[page] ?? ""));
    const row = this.row(tabs, { id: `tfp-pages-${this.uid}-${index}`, "aria-label": name });
    row.classList.add("tfp-subtabs");
    return row;
  }

  private pageTab(page: number, name: string): HTMLElement {
    const tab = this.tab(name, `tfp-tab-${this.uid}-${page}`, () => this.choose(page));
    this.pages[page] = tab;
    return tab;
  }

  private tab(name: string, id: string, open: () => void): HTMLElement {
    const tab = element("button", { type: "button", class: "tfp-tab", role: "tab", id }, name);
    tab.addEventListener("click", open);
    return tab;
  }

  /** Names the panes for assistive technology as soon as they are all in the page. */
  private label(attempts: number): void {
    if (this.signal.aborted) return;
    let missing = false;
    this.pages.forEach((tab, index) => {
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

function mark(tab: HTMLElement | undefined, selected: boolean): void {
  tab?.setAttribute("aria-selected", String(selected));
  if (tab) tab.tabIndex = selected ? 0 : -1;
}

/** Moves to another tab of a row, and opens it. */
function onKey(event: KeyboardEvent, tabs: HTMLElement[]): void {
  const at = tabs.indexOf(event.target as HTMLElement);
  const target = pageOfKey(event.key, at, tabs.length - 1);
  if (at < 0 || target === undefined) return;
  tabs[target]?.click();
  tabs[target]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
