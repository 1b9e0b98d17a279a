/**
 * What a report runs: its tabs, menus, tables, timelines, flame graphs and charts, drawn from what the page holds.
 *
 * The widgets' own bundles draw them (render/bundle.py puts them in), so that the package holds each once.
 */
import { drawFlameGraphs } from "../flame/page";
import { drawReadouts } from "../readout/page";
import { drawTables } from "../table/page";
import { drawChoices } from "../tabs/page";
import { drawTimelines } from "../trace/page";

interface Widgets {
  flame: Parameters<typeof drawFlameGraphs>[0];
  readout: Parameters<typeof drawReadouts>[0];
  table: Parameters<typeof drawTables>[0];
  tabs: Parameters<typeof drawChoices>[0];
  trace: Parameters<typeof drawTimelines>[0];
}

/** The most that the frame of a report takes of the page around it (render/report.py). */
const MAX_PX = 4000;

export default function drawPage({ flame, readout, table, tabs, trace }: Widgets): void {
  drawChoices(tabs);
  drawTables(table);
  drawTimelines(trace);
  drawFlameGraphs(flame);
  drawReadouts(readout);
  const frame = window.name === "tfp-report" ? (window.frameElement as HTMLElement | null) : null;
  if (!frame) return;
  const fit = () => (frame.style.height = `${Math.min(document.body.offsetHeight, MAX_PX)}px`);
  new ResizeObserver(fit).observe(document.body);
}
