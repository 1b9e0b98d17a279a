/** Widgets in a page without a kernel, such as a report: what they show is embedded in the page itself. */
import type { Model } from "./host";

type Listener = (content: never, buffers: never) => void;

/** A model without a kernel: keeps its traits, and sends nothing. */
export class PageModel<Traits extends object> implements Model<Traits> {
  protected readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly traits: Traits) {}

  get<K extends keyof Traits & string>(name: K): Traits[K] {
    return this.traits[name];
  }

  set<K extends keyof Traits & string>(name: K, value: Traits[K]): void {
    this.traits[name] = value;
    this.emit(`change:${name}`);
  }

  save_changes(): void {}

  send(): void {}

  on(event: string, callback: Listener): void {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known.add(callback));
  }

  off(event: string, callback: Listener): void {
    this.listeners.get(event)?.delete(callback);
  }

  emit(event: string, content?: unknown, buffers?: unknown): void {
    for (const callback of this.listeners.get(event) ?? []) callback(content as never, buffers as never);
  }
}

/** What the link that was followed last shows: an op, a range of time, or both. */
interface Target {
  op: string | null;
  range: [number, number] | null;
}

let last: Target | null = null;
const followers = new Set<(target: Target) => void>();

/** Lets what shows ops and times follow a link. */
export function sendTarget(target: Target | null): void {
  last = target;
  if (target) for (const follow of followers) follow(target);
}

/** Calls `follow` for the link that was followed last, and for each after it. */
export function followTargets(follow: (target: Target) => void): void {
  followers.add(follow);
  if (last) follow(last);
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/**
 * Calls `draw` for each script element of a class that is not drawn yet, with the element to draw into; for those in a
 * folded part of the page when it unfolds. The element before it shows the same without a script, and is hidden
 * afterwards.
 */
export function drawEmbedded(
  name: string,
  draw: (data: HTMLScriptElement, el: HTMLElement) => Promise<void>,
): void {
  const drawVisible = () => {
    for (const data of document.querySelectorAll<HTMLScriptElement>(`script.${name}:not([data-drawn])`)) {
      if (!data.closest("details:not([open])")) drawOne(data, draw);
    }
  };
  drawVisible();
  document.addEventListener("toggle", drawVisible, { capture: true });
}

function drawOne(
  data: HTMLScriptElement,
  draw: (data: HTMLScriptElement, el: HTMLElement) => Promise<void>,
): void {
  data.dataset.drawn = "";
  const el = document.createElement("div");
  data.after(el);
  void draw(data, el).then(() => {
    const plain = data.previousElementSibling;
    if (plain instanceof HTMLElement && plain.classList.contains("tfp-plain")) plain.hidden = true;
  });
}
