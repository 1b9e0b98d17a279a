import { at } from "../lib/at";
import type { Column } from "./columns";
import { type Direction, sortRows } from "./order";

const OPEN_LEVELS = 3;

/** Rows that form a tree. Each row comes after its parent, which is the last row before it with a lower depth. */
export class Tree {
  private readonly parents: Int32Array;
  private readonly inner = new Set<number>();
  private readonly closed = new Set<number>();
  private all = false;

  constructor(depths: ArrayLike<number>) {
    this.parents = new Int32Array(depths.length);
    const path: number[] = [];
    for (let row = 0; row < depths.length; row++) {
      const depth = at(depths, row);
      path.length = depth;
      const parent = path[depth - 1] ?? -1;
      this.parents[row] = parent;
      path.push(row);
      if (parent < 0) continue;
      this.inner.add(parent);
      if (depth > OPEN_LEVELS) this.closed.add(parent);
    }
  }

  /** Whether a row has rows below it, and shows them. */
  state(row: number): "open" | "closed" | "leaf" {
    if (!this.inner.has(row)) return "leaf";
    return this.closed.has(row) && !this.all ? "closed" : "open";
  }

  setOpen(row: number, open: boolean): void {
    if (open) this.closed.delete(row);
    else this.closed.add(row);
  }

  /** The given rows and those above them, with siblings sorted by a column; without `all`, no rows below closed ones. */
  arrange(rows: Uint32Array, column: Column | null, direction: Direction, all: boolean): Uint32Array {
    this.all = all;
    const kept = this.withAncestors(rows);
    const ordered = column ? sortRows(kept, column, direction) : kept;
    const children = new Map<number, number[]>();
    for (const row of ordered) {
      const parent = at(this.parents, row);
      const siblings = children.get(parent);
      if (siblings) siblings.push(row);
      else children.set(parent, [row]);
    }
    const arranged: number[] = [];
    const stack = [...(children.get(-1) ?? [])].reverse();
    for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
      arranged.push(row);
      if (all || !this.closed.has(row)) stack.push(...(children.get(row) ?? []).slice().reverse());
    }
    return Uint32Array.from(arranged);
  }

  private withAncestors(rows: Uint32Array): Uint32Array {
    const kept = new Uint8Array(this.parents.length);
    for (const hit of rows) {
      for (let row = hit; row >= 0 && !kept[row]; row = at(this.parents, row)) kept[row] = 1;
    }
    return Uint32Array.from({ length: kept.length }, (_, row) => row).filter((row) => kept[row]);
  }
}
