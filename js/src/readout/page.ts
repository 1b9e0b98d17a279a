/** The values under the pointer, below the picture of a chart in a page without a kernel. */
import "./page.css";
import type { Widget } from "../lib/host";
import { inflate } from "../lib/inflate";
import { bytesOf, drawEmbedded, PageModel } from "../lib/page";
import type { Traits } from "./index";

/** What render/embedded.py writes: JSON compressed with zlib. */
type Embedded = Omit<Traits, "chart" | "selected"> & { rows: boolean };

let count = 0;

async function draw(readout: Widget<Traits>, data: HTMLScriptElement, el: HTMLElement): Promise<void> {
  const picture = data.previousElementSibling;
  const text = new TextDecoder().decode(await inflate([bytesOf(data.text)]));
  const { rows, ...traits } = JSON.parse(text) as Embedded;
  const chart = `tfp-chart-page${count++}`;
  picture?.classList.add(chart, ...(rows ? ["tfp-rows"] : []));
  el.classList.add("tfp-below-picture");
  readout.render({ model: new PageModel<Traits>({ ...traits, chart, selected: null }), el });
}

export function drawReadouts(readout: Widget<Traits>): void {
  drawEmbedded("tfp-chart-data", (data, el) => draw(readout, data, el));
}
