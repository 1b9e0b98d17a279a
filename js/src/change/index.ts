import "./change.css";
import { keepKeys } from "../lib/dom";
import { type RenderProps, send } from "../lib/host";
import { followTheme } from "../lib/theme";
import { copyOnClick } from "./copy";

export interface Traits {
  /** The card, drawn and escaped by the kernel (render/answer.py). */
  html: string;
  /** The code for the place of the old. */
  code: string;
}

/** A change as a card: its buttons copy the new code, and ask the kernel for a cell with the change in it. */
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
  return () => {
    lifetime.abort();
    root.remove();
  };
}

export default { render };
