/** The boxes of a flame graph: which are seen when one fills the width, and which match a search. */

/** A list per column; rows come in depth-first order, each before those inside it. Times are in milliseconds. */
export interface Boxes {
  names: string[];
  /** Per row its place in `names`. */
  name: number[];
  depth: number[];
  start: number[];
  total: number[];
  own: number[];
  color: string[];
}

export interface Placed {
  row: number;
  /** From the left, as parts of the whole width. */
  left: number;
  width: number;
  depth: number;
}

/** The row after the last one inside `row`. */
export function endOf(boxes: Boxes, row: number): number {
  const depth = boxes.depth[row] ?? 0;
  let next = row + 1;
  while (next < boxes.depth.length && (boxes.depth[next] ?? 0) > depth) next += 1;
  return next;
}

/** The rows around `row`, the outermost first. */
export function around(boxes: Boxes, row: number): number[] {
  const found: number[] = [];
  let depth = boxes.depth[row] ?? 0;
  for (let k = row - 1; k >= 0 && depth > 0; k -= 1) {
    if ((boxes.depth[k] ?? 0) < depth) {
      found.unshift(k);
      depth = boxes.depth[k] ?? 0;
    }
  }
  return found;
}

/** Where boxes lie when `root` fills the width; those around it fill it too. Narrower ones than `least` are left out. */
export function placed(boxes: Boxes, root: number, least: number): Placed[] {
  const whole = boxes.total[root] || 1;
  const from = boxes.start[root] ?? 0;
  const found: Placed[] = around(boxes, root).map((row) => ({
    row,
    left: 0,
    width: 1,
    depth: boxes.depth[row] ?? 0,
  }));
  for (let row = root; row < endOf(boxes, root); row += 1) {
    const width = (boxes.total[row] ?? 0) / whole;
    if (width >= least)
      found.push({
        row,
        left: ((boxes.start[row] ?? 0) - from) / whole,
        width,
        depth: boxes.depth[row] ?? 0,
      });
  }
  return found;
}

/** The rows whose names hold a text, and their time in all: a box inside another match counts once. */
export function matches(boxes: Boxes, text: string): { rows: Set<number>; total: number } {
  const wanted = text.toLowerCase();
  const named = boxes.names.map((name) => wanted !== "" && name.toLowerCase().includes(wanted));
  const rows = new Set<number>();
  let total = 0;
  let counted = -1;
  boxes.name.forEach((name, row) => {
    if (!named[name]) return;
    rows.add(row);
    if (row < counted) return;
    total += boxes.total[row] ?? 0;
    counted = endOf(boxes, row);
  });
  return { rows, total };
}
