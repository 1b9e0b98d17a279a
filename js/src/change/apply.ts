/** The event by which a card asks the page around it for a new cell with a text. */
export const APPLY = "tfprof-nb:apply";

export type ApplyEvent = CustomEvent<{ text: string }>;

/** Asks for a new cell below the one that holds `root`; returns whether the page made one. */
export function askForCell(root: HTMLElement, text: string): boolean {
  const event = new CustomEvent(APPLY, { bubbles: true, cancelable: true, composed: true, detail: { text } });
  return !root.dispatchEvent(event);
}
