import { button } from "./dom";

// The four corners of a screen: few fonts have a sign for it.
const CORNERS = `<svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path d="M1 4V1h3M8 1h3v3M11 8v3H8M4 11H1V8" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>`;

/** A button that lets an element fill the screen, and again its place; nothing where the page may not. */
export function enlarger(root: HTMLElement, changed: () => void, signal: AbortSignal): HTMLElement[] {
  if (!document.fullscreenEnabled) return [];
  const isLarge = () => document.fullscreenElement === root;
  const toggle = button("", "Fill the screen (Escape: back)", () => {
    void (isLarge() ? document.exitFullscreen() : root.requestFullscreen());
  });
  toggle.innerHTML = CORNERS;
  const follow = () => {
    root.classList.toggle("tfp-large", isLarge());
    changed();
  };
  document.addEventListener("fullscreenchange", follow, { signal });
  return [toggle];
}

/** Lets buttons that the kernel drew (render/html.py) fill the screen with the picture around them, and give it back. */
export function enlargeOnClick(view: HTMLElement, signal: AbortSignal): void {
  const toggle = (event: Event) => {
    const place = (event.target as Element).closest(".tfp-enlarge")?.closest(".tfp-network");
    if (place) void (document.fullscreenElement ? document.exitFullscreen() : place.requestFullscreen());
  };
  view.addEventListener("click", toggle, { signal });
}
