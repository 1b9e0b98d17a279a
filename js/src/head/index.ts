import "./head.css";
import { element, keepKeys, whenAttached } from "../lib/dom";
import type { RenderProps } from "../lib/host";
import { followTheme } from "../lib/theme";

export interface Traits {
  title: string;
  static_id: string;
}

/**
 * The first line of a view: its title. While it is in the page, a style rule hides the view's static forms, whose ids
 * begin with `static_id`, the whole view has the class of its theme, and keys pressed in it, in links or in widgets of
 * other libraries, stay there.
 */
function render({ model, el }: RenderProps<Traits>): () => void {
  const lifetime = new AbortController();
  const head = element("div", { class: "tfp tfp-head" }, model.get("title"));
  el.append(head, hiding(model.get("static_id")));
  whenAttached(el, () => keepKeys(el.closest(".widget-vbox") ?? el, lifetime.signal));
  followTheme(head, lifetime.signal, (dark) =>
    whenAttached(el, () => el.closest(".tfp-view")?.classList.toggle("tfp-dark", dark)),
  );
  return () => lifetime.abort();
}

/** Hides the whole output in JupyterLab, the element alone elsewhere. */
function hiding(id: string): HTMLStyleElement {
  const form = `[id^="${id}"]`;
  return element(
    "style",
    {},
    id && `.jp-OutputArea-child:has(${form}), ${form} { display: none !important; }`,
  );
}

export default { render };
