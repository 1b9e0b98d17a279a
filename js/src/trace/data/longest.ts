const FAN = 16;

/**
 * Finds the longest event of any range of events in a few steps, however long the range.
 *
 * Level k holds, for each block of 16^(k+1) events, the index of its longest (the earliest of equals): a sixteenth of
 * the events in extra memory. Perfetto's implicit segment forest is the same idea.
 */
export class Longest {
  private readonly levels: Uint32Array[] = [];

  /** `sums[i + 1] - sums[i]` is the duration of event i. */
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

  /** The longest event in [from, to), which must not be empty. */
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
    const { sums } = this;
    let best = start ?? (level ? level[from] : from);
    let longest = sums[best + 1] - sums[best];
    for (let k = from; k < to; k++) {
      const event = level ? level[k] : k;
      const length = sums[event + 1] - sums[event];
      if (length > longest) {
        best = event;
        longest = length;
      }
    }
    return best;
  }
}
