/** The trace viewer in a page without a kernel. */
import type { Widget } from "../lib/host";
import { inflate } from "../lib/inflate";
import { bytesOf, drawEmbedded, followTargets, PageModel } from "../lib/page";
import type { Traits } from "./traits";

/** What render/embedded.py writes. Both are base64; the header is JSON compressed with zlib. */
interface Embedded {
  header: string;
  payload: string;
  height: number;
}

async function draw(trace: Widget<Traits>, data: HTMLScriptElement, el: HTMLElement): Promise<void> {
  const { header, payload, height } = JSON.parse(data.text) as Embedded;
  const none = { time_range: null, selected_event: null, selected_name: null };
  const text = new TextDecoder().decode(await inflate([bytesOf(header)]));
  const traits: Traits = { header: JSON.parse(text), payload: [bytesOf(payload)], height, ...none };
  const model = new PageModel(traits);
  trace.render({ model, el });
  followTargets(({ op, range }) => {
    if (range) model.set("time_range", range);
    if (op) model.set("selected_name", op);
  });
}

export function drawTimelines(trace: Widget<Traits>): void {
  drawEmbedded("tfp-trace-data", (data, el) => draw(trace, data, el));
}
