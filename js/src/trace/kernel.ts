import { listen, type Model, send } from "../lib/host";
import { decodeTile } from "./data/decode";
import type { Flow, Tile, Told } from "./data/header";
import type { Events } from "./data/slices";
import type { Stats } from "./ui/details";

interface TotalRow {
  name: string;
  count: number;
  total_ms: number;
  self_ms: number;
}

export type Answer =
  | { type: "details"; stats: Stats; flows?: Flow[] }
  | { type: "source"; line: string }
  | { type: "totals"; rows: TotalRow[] }
  | { type: "find" | "place"; found: Told | null }
  | { type: "tile"; id: number; events: Events };

type Message = { id: number } & (Exclude<Answer, { type: "tile" }> | ({ type: "tile" } & Tile));

/**
 * Asks the kernel, which may be busy or gone, and hands on its answers. Of each kind of question only the answer to the
 * last counts; tiles say themselves which are still wanted.
 */
export class Kernel {
  private readonly last = new Map<string, number>();
  private count = 0;

  constructor(
    private readonly model: Model<object>,
    private readonly onAnswer: (answer: Answer) => void,
    private readonly signal: AbortSignal,
  ) {
    listen(model, "msg:custom", (message, buffers) => this.receive(message, buffers), signal);
  }

  ask(type: "details" | "totals" | "find" | "place", question: object): void {
    this.count += 1;
    this.last.set(type, this.count);
    send(this.model, { type, ...question, id: this.count });
  }

  private receive(message: Message, buffers: BlobPart[] = []): void {
    if (message.type !== "tile") {
      // The line of code follows the other details of an event.
      const question = message.type === "source" ? "details" : message.type;
      if (message.id === this.last.get(question)) this.onAnswer(message);
      return;
    }
    const { id } = message;
    decodeTile(message, buffers).then(
      (events) => {
        if (!this.signal.aborted) this.onAnswer({ type: "tile", id, events });
      },
      (error: unknown) => console.warn("A part of the trace could not be read.", error),
    );
  }
}
