import { PageModel } from "./page";

/** A notebook's model without a kernel: records messages, and counts listeners. */
export class FakeModel<Traits extends object> extends PageModel<Traits> {
  readonly sent: unknown[] = [];
  saves = 0;

  override save_changes(): void {
    this.saves += 1;
  }

  override send(content?: unknown): void {
    this.sent.push(content);
  }

  get listening(): number {
    return [...this.listeners.values()].reduce((sum, callbacks) => sum + callbacks.size, 0);
  }
}
