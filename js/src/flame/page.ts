/** The flame graph in a page without a kernel. */
import { inflate } from "../lib/inflate";
import { bytesOf, drawEmbedded, PageModel } from "../lib/page";
import flame, { type Traits } from "./index";

/** Draws what render/flame_widget.py writes: JSON compressed with zlib. */
async function draw(data: HTMLScriptElement, el: HTMLElement): Promise<void> {
  const text = new TextDecoder().decode(await inflate([bytesOf(data.text)]));
  flame.render({ model: new PageModel<Traits>(JSON.parse(text)), el });
}

drawEmbedded("tfp-flame-data", draw);
