/** How long a page that is still being filled is followed. */
const FILLING_MS = 3000;
const OWN_MOVES = ["wheel", "pointerdown", "keydown", "touchstart"];

/**
 * Scrolls to a strip of tabs, and so to the page below it. A page that is opened for the first time grows while it is
 * filled: the scrolling follows until the reader moves.
 */
export function scrollToPage(strip: HTMLElement, pane: Element | null, signal: AbortSignal): void {
  const calm = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
  const scroll = () => strip.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  const observer = new ResizeObserver(scroll);
  const stop = () => {
    observer.disconnect();
    for (const move of OWN_MOVES) window.removeEventListener(move, stop, true);
  };
  for (const move of OWN_MOVES) window.addEventListener(move, stop, { capture: true, passive: true });
  signal.addEventListener("abort", stop);
  setTimeout(stop, FILLING_MS);
  scroll();
  if (pane) observer.observe(pane);
}
