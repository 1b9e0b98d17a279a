/** What a widget uses of its host: a part of anywidget's contract for front-end modules. */

export interface Model<Traits> {
  get<K extends keyof Traits & string>(name: K): Traits[K];
  set<K extends keyof Traits & string>(name: K, value: Traits[K]): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, callback: (content: never, buffers: never) => void): void;
  off(event: string, callback: (content: never, buffers: never) => void): void;
  /** Has the other widgets of the page, where there is a notebook. */
  widget_manager?: { get_model(id: string): Promise<unknown> };
}

export interface RenderProps<Traits> {
  model: Model<Traits>;
  el: HTMLElement;
}

/** What a bundle exports. */
export interface Widget<Traits> {
  render(props: RenderProps<Traits>): () => void;
}

/** Calls `callback` on each `event` of the model until `signal` aborts. */
export function listen<Traits>(
  model: Model<Traits>,
  event: string,
  callback: (content: never, buffers: never) => void,
  signal: AbortSignal,
): void {
  model.on(event, callback);
  signal.addEventListener("abort", () => model.off(event, callback));
}

/** Sets a trait here and in the kernel, unless it has the value already. */
export function push<Traits, K extends keyof Traits & string>(
  model: Model<Traits>,
  name: K,
  value: Traits[K],
): void {
  if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
  model.set(name, value);
  toKernel(() => model.save_changes());
}

/** Sends a message. If the kernel is gone, nothing happens: what is in the browser works without it. */
export function send<Traits>(model: Model<Traits>, content: unknown): void {
  toKernel(() => model.send(content));
}

function toKernel(action: () => void): void {
  try {
    action();
  } catch (error) {
    console.debug("The kernel is gone.", error);
  }
}
