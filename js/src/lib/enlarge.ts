import { button } from "./dom";

const SVG = "http://www.w3.org/2000/svg";
const CORNERS = "M1 4V1h3M8 1h3v3M11 8v3H8M4 11H1V8";

/** A button that lets an element fill the screen, and again its place; nothing where the page may not. */
export function enlarger(root: HTMLElement, changed: () => void, signal: AbortSignal): HTMLElement[] {
  if (!document.fullscreenEnabled) return [];
  const isLarge = () => document.fullscreenElement === root;
  const toggle = button("", "Fill the screen (Escape: back)", () => {
    void (isLarge() ? document.exitFullscreen() : root.requestFullscreen());
  });
  toggle.append(corners());
  const follow = () => {
    root.classList.toggle("tfp-large", isLarge());
    changed();
  };
  document.addEventListener("fullscreenchange", follow, { signal });
  return [toggle];
}

/** The four corners of a screen: few fonts have a sign for it. */
function corners(): SVGElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 12 12");
  picture.setAttribute("width", "12");
  picture.setAttribute("height", "12");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", CORNERS);
  path.setAttribute("fill", "none");
  path.setAttribute("stroke", "currentColor");
  path.setAttribute("stroke-width", "1.5");
  picture.append(path);
  return picture;
}
