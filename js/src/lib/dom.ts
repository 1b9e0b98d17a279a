type Attributes = Record<string, string | number | boolean>;

/**
 * Keeps keys from JupyterLab's shortcuts (S saves, D D deletes the notebook cell ...) while the focus is inside an element.
 * What has the focus must say so itself: with an ancestor, JupyterLab finds its own `:focus` rule first.
 */
export function keepKeys(root: Element, signal: AbortSignal): void {
  const mark = ({ target }: Event) => (target as Element).setAttribute("data-lm-suppress-shortcuts", "true");
  root.addEventListener("focusin", mark, { signal });
}

/** Creates an element. Text becomes text nodes, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

/** A button with a visible text and an accessible name. */
export function button(text: string, label: string, onClick: () => void): HTMLButtonElement {
  const attributes = { type: "button", class: "tfp-button", title: label, "aria-label": label };
  const node = element("button", attributes, text);
  node.addEventListener("click", onClick);
  return node;
}

/** Returns a function that calls `callback` once, `ms` after its own last call. */
export function debounce(callback: () => void, ms: number, signal: AbortSignal): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return () => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(callback, ms);
  };
}

/** Calls `callback` when the element is in the page: the notebook puts it there after `render` returns. */
export function whenAttached(el: HTMLElement, callback: () => void, attempts = 100): void {
  if (el.isConnected) callback();
  else if (attempts > 0) requestAnimationFrame(() => whenAttached(el, callback, attempts - 1));
}
