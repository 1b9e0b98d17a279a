import { listen, type Model, send } from "../lib/host";
import type { Milliseconds } from "../lib/units";
import { decodeTile } from "./data/decode";
import type { EventLocation, Flow, Tile } from "./data/header";
import type { Slices } from "./data/slices";
import type { TileRequest } from "./data/tiles";

export type Stats = Record<string, unknown>;

/** The events of one name in a range, as the kernel counts them. */
export interface NameTotal {
  name: string;
  count: number;
  total_ms: Milliseconds;
  self_ms: Milliseconds;
}

interface Answers {
  /** A second message, of type source, follows. */
  details: { type: "details"; stats: Stats; flows?: Flow[] } | { type: "source"; line: string };
  place: { found: EventLocation | null };
  find: { found: EventLocation | null };
  totals: { rows: NameTotal[] };
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

  ask<Type extends keyof Answers>(type: Type, question: object, onAnswer: OnAnswer<Answers[Type]>): void {
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

  private receive(message: { type: string; id: number }, buffers: BlobPart[] = []): void {
    const question = this.last.get(message.type === "source" ? "details" : message.type);
    if (question?.id === message.id) question.onAnswer(message as never, buffers);
  }
}
