import "./change.css";
import { keepKeys } from "../lib/dom";
import { listen, type RenderProps, send } from "../lib/host";
import { followTheme } from "../lib/theme";
import { askForCell } from "./apply";
import { copyOnClick, sayFor, write } from "./copy";

export interface Traits {
  /** The card, drawn and escaped by the kernel (render/answer.py). */
  html: string;
  /** The code for the place of the old. */
  code: string;
}

interface Cell {
  type: "cell";
  text: string;
}

/** A change as a card: its buttons copy the new code, and put the whole changed cell below the current one. */
function render({ model, el }: RenderProps<Traits>): () => void {
  const lifetime = new AbortController();
  const { signal } = lifetime;
  const root = document.createElement("div");
  root.className = "tfp-card";
  root.innerHTML = model.get("html");
  el.append(root);
  followTheme(root, signal, () => {});
  keepKeys(root, signal);
  copyOnClick(root, () => model.get("code"), signal);
  const apply = root.querySelector<HTMLButtonElement>(".tfp-apply");
  apply?.addEventListener("click", () => send(model, { type: "apply" }), { signal });
  const receive = async ({ type, text }: Cell) => {
    if (type !== "cell" || !apply) return;
    if (askForCell(root, text)) sayFor(apply, "It is below");
    else sayFor(apply, (await write(text)) ? "Copied: paste it into a new cell" : "No cell can be made here");
  };
  listen(model, "msg:custom", receive, signal);
  return () => {
    lifetime.abort();
    root.remove();
  };
}

export default { render };
