import "./head.css";
import { element } from "../lib/dom";
import { listen, type RenderProps } from "../lib/host";
import { hideStaticForm, whenAttached } from "../lib/reveal";
import { followTheme } from "../lib/theme";

export interface Traits {
  title: string;
  static_id: string;
}

/** The first line of a view: its title. It also hides the static form and tells the whole view which theme it is in. */
function render({ model, el }: RenderProps<Traits>): () => void {
  const lifetime = new AbortController();
  const head = element("div", { class: "tfp tfp-head" }, model.get("title"));
  el.append(head);
  const hide = () => hideStaticForm(model.get("static_id"), lifetime.signal);
  listen(model, "change:static_id", hide, lifetime.signal);
  hide();
  followTheme(head, lifetime.signal, (dark) =>
    whenAttached(el, () => el.closest(".tfp-view")?.classList.toggle("tfp-dark", dark)),
  );
  return () => lifetime.abort();
}

export default { render };
