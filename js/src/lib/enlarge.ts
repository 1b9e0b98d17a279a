import { button } from "./dom";

/** A button that lets an element fill the screen, and again its place; nothing where the page may not. */
export function enlarger(root: HTMLElement, changed: () => void, signal: AbortSignal): HTMLElement[] {
  if (!document.fullscreenEnabled) return [];
  const isLarge = () => document.fullscreenElement === root;
  const toggle = button("⛶", "Fill the screen (Escape: back)", () => {
    void (isLarge() ? document.exitFullscreen() : root.requestFullscreen());
  });
  const follow = () => {
    root.classList.toggle("tfp-large", isLarge());
    changed();
  };
  document.addEventListener("fullscreenchange", follow, { signal });
  return [toggle];
}
