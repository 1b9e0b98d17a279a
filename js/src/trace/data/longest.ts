const FAN = 16;

/**
 * Finds the longest slice of any range of slices in a few steps, however long the range.
 *
 * Level k holds, for each block of 16^(k+1) slices, the index of the longest (the earliest of equals): a sixteenth of
 * the slices in extra memory. Perfetto's implicit segment forest is the same idea.
 */
export class Longest {
  private readonly levels: Uint32Array[] = [];

  /** `sums[i + 1] - sums[i]` is the duration of slice i. */
  constructor(private readonly sums: Float64Array) {
    let below: Uint32Array | undefined;
    for (let size = sums.length - 1; size >= FAN; ) {
      const blocks = Math.floor(size / FAN);
      const level = new Uint32Array(blocks);
      for (let b = 0; b < blocks; b++) level[b] = this.best(below, b * FAN, (b + 1) * FAN);
      this.levels.push(level);
      below = level;
      size = blocks;
    }
  }

  /** The longest slice in [from, to), which must not be empty. */
  query(from: number, to: number): number {
    let best = from;
    let low = from;
    let high = to;
    for (let depth = 0; ; depth++) {
      const level = depth === 0 ? undefined : this.levels[depth - 1];
      const lowBlock = Math.ceil(low / FAN);
      const highBlock = Math.floor(high / FAN);
      if (lowBlock >= highBlock || depth === this.levels.length) return this.best(level, low, high, best);
      best = this.best(level, low, lowBlock * FAN, best);
      best = this.best(level, highBlock * FAN, high, best);
      low = lowBlock;
      high = highBlock;
    }
  }

  private best(level: Uint32Array | undefined, from: number, to: number, start?: number): number {
    let best = start ?? (level ? (level[from] as number) : from);
    let longest = this.durationOf(best);
    for (let k = from; k < to; k++) {
      const slice = level ? (level[k] as number) : k;
      const duration = this.durationOf(slice);
      if (duration > longest) {
        best = slice;
        longest = duration;
      }
    }
    return best;
  }

  private durationOf(slice: number): number {
    return (this.sums[slice + 1] as number) - (this.sums[slice] as number);
  }
}
