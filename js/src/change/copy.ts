const SHOWN_MS = 1500;

/** Lets the card's button copy the code, and say so for a moment. */
export function copyOnClick(root: HTMLElement, code: () => string, signal: AbortSignal): void {
  const button = root.querySelector<HTMLButtonElement>(".tfp-copy");
  const copy = async () => {
    if (!button) return;
    const copied = await write(code());
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    if (copied) setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
    else select(root.querySelector(".tfp-diff") ?? root);
  };
  button?.addEventListener("click", copy, { signal });
}

/** Writes to the clipboard; a page in a frame, or without a secure origin, may not. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function select(element: Element): void {
  getSelection()?.selectAllChildren(element);
}
