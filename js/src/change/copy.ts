const SHOWN_MS = 2500;

/** Lets the card's button copy the code, and say so for a moment. */
export function copyOnClick(root: HTMLElement, code: () => string, signal: AbortSignal): void {
  const button = root.querySelector<HTMLButtonElement>(".tfp-copy");
  const copy = async () => {
    if (!button) return;
    if (await write(code())) {
      sayFor(button, "Copied");
      return;
    }
    getSelection()?.selectAllChildren(root.querySelector(".tfp-diff") ?? root);
    sayFor(button, "Press Ctrl+C");
  };
  button?.addEventListener("click", copy, { signal });
}

/** Shows a text on a button for a moment. */
export function sayFor(button: HTMLButtonElement, text: string): void {
  button.dataset.label ??= button.textContent ?? "";
  button.textContent = text;
  setTimeout(() => (button.textContent = button.dataset.label ?? ""), SHOWN_MS);
}

/** Writes to the clipboard, and returns whether it could: a page in a frame, or without a secure origin, may not. */
export async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
