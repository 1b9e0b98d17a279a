/** The flame graph in a page without a kernel. */
import type { Widget } from "../lib/host";
import { inflate } from "../lib/inflate";
import { bytesOf, drawEmbedded, PageModel } from "../lib/page";
import type { Traits } from "./index";

/** Draws what render/embedded.py writes: JSON compressed with zlib. */
async function draw(flame: Widget<Traits>, data: HTMLScriptElement, el: HTMLElement): Promise<void> {
  const text = new TextDecoder().decode(await inflate([bytesOf(data.text)]));
  flame.render({ model: new PageModel<Traits>(JSON.parse(text)), el });
}

export function drawFlameGraphs(flame: Widget<Traits>): void {
  drawEmbedded("tfp-flame-data", (data, el) => draw(flame, data, el));
}
