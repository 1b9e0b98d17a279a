import type { Model } from "../lib/host";

/** What we need of bqplot's figures. */
interface Figure {
  views?: Record<string, Promise<{ visible: boolean; relayout(): void }>>;
}

const ALWAYS = { get: () => true, set: () => {}, configurable: true };

/**
 * Draws a figure as soon as its place has another size. By itself bqplot waits until the figure is seen, and then a third
 * of a second, in which it has its old width.
 */
export function redrawWhenResized(
  place: HTMLElement,
  id: string,
  manager: Model<unknown>["widget_manager"],
  signal: AbortSignal,
): void {
  if (!id || !manager) return;
  const redraw = async () => {
    if (!place.clientWidth) return;
    const { views } = (await manager.get_model(id)) as Figure;
    for (const view of await Promise.all(Object.values(views ?? {}))) {
      // Setting it once is not enough: bqplot takes it back before it draws, when the figure has just left the window.
      Object.defineProperty(view, "visible", ALWAYS);
      view.relayout();
    }
  };
  const observer = new ResizeObserver(() => void redraw());
  observer.observe(place);
  signal.addEventListener("abort", () => observer.disconnect());
}
