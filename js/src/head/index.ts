import "./head.css";
import { askForCell } from "../change/apply";
import { write } from "../change/copy";
import { button, element, keepKeys, whenAttached } from "../lib/dom";
import { enlargeOnClick } from "../lib/enlarge";
import type { RenderProps } from "../lib/host";
import { followTheme } from "../lib/theme";

export interface Traits {
  title: string;
  static_id: string;
  /** The code that shows the view again, for when the kernel has ended; empty if there is none. */
  reopen: string;
}

/**
 * The first line of a view: its title. While it is in the page, a style rule hides the view's static forms, whose ids
 * begin with `static_id`, the whole view has the class of its theme, and keys pressed in it, in links or in widgets of
 * other libraries, stay there.
 */
function render({ model, el }: RenderProps<Traits>): () => void {
  const lifetime = new AbortController();
  const head = element("div", { class: "tfp tfp-head" }, model.get("title"));
  const gone = ended(model.get("reopen"));
  el.append(head, gone, hiding(model.get("static_id")));
  followTheme(gone, lifetime.signal, () => {});
  whenAttached(el, () => {
    const view = el.closest<HTMLElement>(".widget-vbox") ?? el;
    keepKeys(view, lifetime.signal);
    enlargeOnClick(view, lifetime.signal);
  });
  followTheme(head, lifetime.signal, (dark) =>
    whenAttached(el, () => el.closest(".tfp-view")?.classList.toggle("tfp-dark", dark)),
  );
  return () => lifetime.abort();
}

/** What a rule shows when the kernel that made the view has ended: that it stays, and how to open it again. */
function ended(code: string): HTMLElement {
  const line = element(
    "div",
    { class: "tfp tfp-ended" },
    "The kernel that made this has ended: what was shown stays. ",
  );
  if (!code) return line;
  const again = button("Open it again", "Put a cell below that loads this profile", async () => {
    const made = askForCell(line, code);
    again.textContent = made
      ? "The cell is below"
      : (await write(code))
        ? "Copied: paste it into a cell"
        : code;
  });
  line.append(again, element("pre", {}, code));
  return line;
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
