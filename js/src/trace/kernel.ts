import { listen, type Model, send } from "../lib/host";
import { fromMilliseconds, type Milliseconds, type Picoseconds, toPicoseconds } from "../lib/units";
import { decodeTile } from "./data/decode";
import type { EventLocation, Flow, Tile } from "./data/header";
import type { NameTotals } from "./data/range_totals";
import type { Slices } from "./data/slices";
import type { TileRequest } from "./data/tiles";
import type { SelectedRange } from "./range";

export type Stats = Record<string, unknown>;

/** What is asked with each type of question. */
interface Questions {
  details: { event: number };
  place: { event: number };
  /** The next event in time, from an event on that starts at a time (or from the time on, if `after` is -1). */
  find: { names: number[]; after: number; start_ps: Picoseconds; direction: 1 | -1 };
  totals: { start_ps: Picoseconds; end_ps: Picoseconds; tracks: number[] | null };
  tile: TileRequest;
}

interface Answers {
  /** A second message, of type source, follows. */
  details: { type: "details"; stats: Stats; flows?: Flow[] } | { type: "source"; line: string };
  place: { found: EventLocation | null };
  find: { found: EventLocation | null };
  totals: { rows: { name: string; count: number; total_ms: Milliseconds; self_ms: Milliseconds }[] };
  tile: Tile;
}

type OnAnswer<Answer> = (answer: Answer, buffers: BlobPart[]) => void;

/**
 * Asks the kernel, which may be busy or gone. Of each type of question only the last counts: answers to earlier ones
 * are dropped.
 */
export class Kernel {
  private readonly last = new Map<string, { id: number; onAnswer: OnAnswer<never> }>();
  private count = 0;

  constructor(
    private readonly model: Model<object>,
    private readonly signal: AbortSignal,
  ) {
    listen(model, "msg:custom", (message, buffers) => this.receive(message, buffers), signal);
  }

  ask<Type extends keyof Questions>(
    type: Type,
    question: Questions[Type],
    onAnswer: OnAnswer<Answers[Type]>,
  ): void {
    this.count += 1;
    this.last.set(type, { id: this.count, onAnswer });
    send(this.model, { type, ...question, id: this.count });
  }

  /** Asks for a tile and decodes it. */
  askForTile(request: TileRequest, onLoaded: (slices: Slices) => void): void {
    this.ask("tile", request, (tile, buffers) => {
      decodeTile(tile, buffers).then(
        (slices) => {
          if (!this.signal.aborted) onLoaded(slices);
        },
        (error: unknown) => console.warn("A part of the trace could not be read.", error),
      );
    });
  }

  /** Asks what ran in a range. */
  askForTotals(
    { start, end, tracks }: SelectedRange,
    unit_ps: Picoseconds,
    onTotals: (totals: NameTotals[]) => void,
  ): void {
    const question = {
      start_ps: Math.round(toPicoseconds(start, unit_ps)),
      end_ps: Math.round(toPicoseconds(end, unit_ps)),
      tracks: tracks && [...tracks],
    };
    this.ask("totals", question, ({ rows }) => {
      const totals = rows.map(({ name, count, total_ms, self_ms }) => {
        return { name, count, total: fromMilliseconds(total_ms), self: fromMilliseconds(self_ms) };
      });
      onTotals(totals);
    });
  }

  private receive(message: { type: string; id: number }, buffers: BlobPart[] = []): void {
    const question = this.last.get(message.type === "source" ? "details" : message.type);
    if (question?.id === message.id) question.onAnswer(message as never, buffers);
  }
}
