import { element } from "../lib/dom";

export const PANE = "tfp-pane-";

const NO_KERNEL =
  "The kernel that had this profile has ended, and this page was not opened before. Run the cell again, or open the profile's files: ";
const OPENS = "%tfprofile_load";

/** The CSS class of pane `index` of the strip `uid`. */
export function paneClass(uid: string, index: number): string {
  return `${PANE}${uid}-${index}`;
}

/**
 * Shows one of several panes, which are elements elsewhere in the page. A style rule hides all others: this needs no
 * kernel, and works before the panes exist and after the notebook has drawn them again.
 */
export class Panes {
  readonly rule = element("style");

  constructor(private readonly uid: string) {}

  show(selected: number): void {
    const others = `[class*="${paneClass(this.uid, 0).slice(0, -1)}"]:not(.${paneClass(this.uid, selected)})`;
    this.rule.textContent = `${others} { display: none !important; }`;
    // Charts that were hidden have no size yet: they lay themselves out when the window changes.
    requestAnimationFrame(() => window.dispatchEvent(new Event("resize")));
  }

  /** Says what to do in the panes that wait for a kernel which is gone. */
  giveUp(): void {
    const waiting = `[class*="${paneClass(this.uid, 0).slice(0, -1)}"] .tfp-loading`;
    for (const notice of document.querySelectorAll(waiting)) notice.textContent = NO_KERNEL + opening(notice);
  }
}

/** The line of code by which the view that has `notice` is opened again, if the view names it. */
function opening(notice: Element): string {
  const codes = [...(notice.closest(".tfp-view")?.querySelectorAll("code") ?? [])];
  return codes.map((code) => code.textContent).find((text) => text.startsWith(OPENS)) ?? `${OPENS} FOLDER`;
}
