import type { Column } from "./columns";
import { type Direction, sortRows } from "./order";

const OPEN_LEVELS = 3;

/** Rows that lie below one another: each comes after its parent, and its depth says which that is. */
export class Tree {
  private readonly parents: Int32Array;
  private readonly parentsOfSome = new Set<number>();
  private readonly closed = new Set<number>();
  private all = false;

  constructor(private readonly depths: ArrayLike<number>) {
    this.parents = new Int32Array(depths.length);
    const path: number[] = [];
    for (let row = 0; row < depths.length; row++) {
      path.length = depths[row];
      this.parents[row] = path[depths[row] - 1] ?? -1;
      path.push(row);
      if (this.parents[row] >= 0) this.parentsOfSome.add(this.parents[row]);
    }
    for (const row of this.parentsOfSome) if (depths[row] >= OPEN_LEVELS) this.closed.add(row);
  }

  /** Whether a row has rows below it, and shows them. */
  state(row: number): "open" | "closed" | "leaf" {
    if (!this.parentsOfSome.has(row)) return "leaf";
    return this.closed.has(row) && !this.all ? "closed" : "open";
  }

  setOpen(row: number, open: boolean): void {
    if (open) this.closed.delete(row);
    else this.closed.add(row);
  }

  /** The rows found and those above them, siblings in order of a column; without `all`, closed rows keep theirs. */
  arrange(found: Uint32Array, column: Column | null, direction: Direction, all: boolean): Uint32Array {
    this.all = all;
    const kept = this.withAncestors(found);
    const ordered = column ? sortRows(kept, column, direction) : kept;
    const children = new Map<number, number[]>();
    for (const row of ordered) {
      const siblings = children.get(this.parents[row]);
      if (siblings) siblings.push(row);
      else children.set(this.parents[row], [row]);
    }
    const rows: number[] = [];
    const stack = [...(children.get(-1) ?? [])].reverse();
    while (stack.length) {
      const row = stack.pop() as number;
      rows.push(row);
      if (all || !this.closed.has(row)) stack.push(...(children.get(row) ?? []).slice().reverse());
    }
    return Uint32Array.from(rows);
  }

  private withAncestors(found: Uint32Array): Uint32Array {
    const kept = new Uint8Array(this.depths.length);
    for (const hit of found) {
      for (let row = hit; row >= 0 && !kept[row]; row = this.parents[row]) kept[row] = 1;
    }
    return Uint32Array.from({ length: kept.length }, (_, row) => row).filter((row) => kept[row]);
  }
}
