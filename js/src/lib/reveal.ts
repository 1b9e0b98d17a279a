const RETRY_MS = 100;
const ATTEMPTS = 30;

/**
 * Hides the static form of a view once its widget has drawn. The static form is an output of its own, which the notebook
 * may insert a little later than the widget, so it is looked for again for three seconds.
 */
export function hideStaticForm(id: string, signal: AbortSignal, attempts = ATTEMPTS): void {
  if (!id || signal.aborted) return;
  const form = document.getElementById(id);
  if (form) {
    const output = form.closest<HTMLElement>(".jp-OutputArea-child") ?? form;
    output.style.display = "none";
  } else if (attempts > 1) {
    setTimeout(() => hideStaticForm(id, signal, attempts - 1), RETRY_MS);
  }
}

/** The notebook puts the element into the page after `render` returns. */
export function whenAttached(el: HTMLElement, callback: () => void, attempts = 100): void {
  if (el.isConnected) callback();
  else if (attempts > 0) requestAnimationFrame(() => whenAttached(el, callback, attempts - 1));
}
