import { at } from "../../lib/at";
import { grouped } from "../../lib/format";
import type { CssPx } from "../../lib/units";
import { LANE_PX } from "../rows";
import { headPx, type Scene } from "./scene";
import type { Box } from "./slices";

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/** Writes names on slices. */
export class SliceLabels {
  /** The widths of the names that have been written, by their index. */
  private readonly widths = new Map<number, CssPx>();

  constructor(private readonly context: CanvasRenderingContext2D) {}

  paint(scene: Scene, boxes: Box[]): void {
    const { context } = this;
    const { slices, header, look, highlight } = scene;
    context.font = FONT;
    context.textAlign = "left";
    for (const { slice, left, right, top } of boxes) {
      const name = slices.nameOf(slice);
      const from = Math.max(left, 0) + 4;
      const room = Math.min(right, scene.viewport.width) - from - 3;
      const events = slices.eventsIn(slice);
      const text =
        events > 1
          ? this.whole(`${grouped(events)} events`, room)
          : this.cut(name, header.labels?.[name] ?? at(header.names, name), room);
      if (!text) continue;
      const pale = events > 1 && slices.fillOf(slice) < 0.5;
      const plain = pale ? look.theme.text : look.ink.textOn(at(look.colors, name));
      context.fillStyle = highlight && !highlight.names[name] ? look.theme.muted : plain;
      context.fillText(text, scene.labelWidth + from, headPx(header) + top + LANE_PX / 2);
    }
  }

  /** A name cut to a width: in proportion to its length, which is close enough for a label. */
  private cut(name: number, text: string, width: CssPx): string {
    let full = this.widths.get(name);
    if (full === undefined) {
      full = this.context.measureText(text).width;
      this.widths.set(name, full);
    }
    if (full <= width) return text;
    const kept = Math.floor((text.length * width) / full) - 2;
    return kept >= 2 ? `${text.slice(0, kept)}…` : "";
  }

  /** A text if it has room, else none. */
  private whole(text: string, width: CssPx): string {
    return this.context.measureText(text).width <= width ? text : "";
  }
}
