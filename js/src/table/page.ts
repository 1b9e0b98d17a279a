/** The table in a page without a kernel. */
import type { Widget } from "../lib/host";
import { inflate } from "../lib/inflate";
import { bytesOf, drawEmbedded, PageModel } from "../lib/page";
import type { Traits } from "./index";

/** What render/embedded.py writes: JSON compressed with zlib, columns of floats in base64. */
type Embedded = Omit<Traits, "buffers" | "depths"> & { buffers: string[]; depths: string };

async function draw(table: Widget<Traits>, data: HTMLScriptElement, el: HTMLElement): Promise<void> {
  const text = new TextDecoder().decode(await inflate([bytesOf(data.text)]));
  const { buffers, depths, ...traits } = JSON.parse(text) as Embedded;
  const floats = { buffers: buffers.map((column) => bytesOf(column).buffer), depths: bytesOf(depths).buffer };
  table.render({ model: new PageModel<Traits>({ ...traits, ...floats }), el });
}

export function drawTables(table: Widget<Traits>): void {
  drawEmbedded("tfp-table-data", (data, el) => draw(table, data, el));
}
