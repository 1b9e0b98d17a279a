/** Tabs, menus and sliders in a page without a kernel: all their pages are there. */
import type { Widget } from "../lib/host";
import { bytesOf, drawEmbedded, PageModel, sendTarget } from "../lib/page";
import type { Traits } from "./index";
import { paneClass } from "./panes";
import "./page.css";

/** What render/html.py writes: JSON in base64. */
type Embedded = Pick<Traits, "names" | "groups" | "kind" | "label">;

let count = 0;

async function draw(tabs: Widget<Traits>, data: HTMLScriptElement, el: HTMLElement): Promise<void> {
  const embedded = JSON.parse(new TextDecoder().decode(bytesOf(data.text))) as Embedded;
  const model = new PageModel<Traits>({ ...embedded, selected: 0, uid: `page${count++}`, opened: null });
  const panes = [...(data.parentElement?.querySelectorAll<HTMLDetailsElement>(":scope > details") ?? [])];
  for (const [index, pane] of panes.entries()) {
    pane.classList.add("tfp-chosen", paneClass(model.get("uid"), index));
    pane.open = index === 0;
  }
  // What is in a pane is drawn when it unfolds.
  model.on("change:selected", () => panes[model.get("selected")]?.setAttribute("open", ""));
  model.on("change:opened", () => sendTarget(model.get("opened")));
  tabs.render({ model, el });
  const follow = () => {
    const shown = location.hash && document.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`);
    const index = panes.findIndex((pane) => shown && pane.contains(shown));
    if (index >= 0) model.set("selected", index);
  };
  addEventListener("hashchange", follow);
  follow();
}

export function drawChoices(tabs: Widget<Traits>): void {
  drawEmbedded("tfp-choice-data", (data, el) => draw(tabs, data, el));
}
