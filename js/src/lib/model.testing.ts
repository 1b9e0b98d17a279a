import type { Model } from "./host";

/** A notebook's model without a kernel: keeps traits, calls listeners, records messages. */
export class FakeModel<Traits extends object> implements Model<Traits> {
  readonly sent: unknown[] = [];
  saves = 0;
  private readonly listeners = new Map<string, Set<(content: never, buffers: never) => void>>();

  constructor(private readonly traits: Traits) {}

  get<K extends keyof Traits & string>(name: K): Traits[K] {
    return this.traits[name];
  }

  set<K extends keyof Traits & string>(name: K, value: Traits[K]): void {
    this.traits[name] = value;
    this.emit(`change:${name}`);
  }

  save_changes(): void {
    this.saves += 1;
  }

  send(content: unknown): void {
    this.sent.push(content);
  }

  on(event: string, callback: (content: never, buffers: never) => void): void {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known.add(callback));
  }

  off(event: string, callback: (content: never, buffers: never) => void): void {
    this.listeners.get(event)?.delete(callback);
  }

  emit(event: string, content?: unknown, buffers?: unknown): void {
    for (const callback of this.listeners.get(event) ?? []) callback(content as never, buffers as never);
  }

  get listening(): number {
    return [...this.listeners.values()].reduce((sum, callbacks) => sum + callbacks.size, 0);
  }
}
