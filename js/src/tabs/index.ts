import "../lib/theme.css";
import "./tabs.css";
import { element, keepKeys, whenAttached } from "../lib/dom";
import { listen, type Model, push, type RenderProps } from "../lib/host";
import { HoverKeys } from "../lib/hover_keys";
import { followTheme } from "../lib/theme";
import { followLinks, type Target } from "./links";
import { PANE, Panes, paneClass } from "./panes";
import { Menu, Slider } from "./pickers";
import { scrollToPage } from "./scroll";
import { pageOfKey, Strip } from "./strip";

export interface Traits {
  names: string[];
  /** The tab that each page belongs to; empty if each is a tab of its own. */
  groups: string[];
  selected: number;
  kind: "tabs" | "menu" | "slider";
  label: string;
  /** Letters and digits, unique in the page. */
  uid: string;
  /** What the last followed link opens. */
  opened: Target | null;
}

const FIRST_PAGE = "Answer";

interface Chooser {
  root: HTMLElement;
  show(selected: number): void;
}

function chooser(model: Model<Traits>, signal: AbortSignal): Chooser {
  const [names, label] = [model.get("names"), model.get("label")];
  const choose = (index: number) => push(model, "selected", index);
  if (model.get("kind") === "menu") return new Menu(names, label, choose);
  if (model.get("kind") === "slider") return new Slider(names, label, choose);
  return new Strip(names, model.get("groups"), model.get("uid"), choose, signal);
}

/** Returns a function that opens the page of a link and scrolls to it, if there is such a page here. */
function opener(model: Model<Traits>, root: HTMLElement, signal: AbortSignal): (target: Target) => boolean {
  return (target) => {
    const index = model.get("names").indexOf(target.page);
    if (index < 0) return false;
    model.set("opened", target);
    model.set("selected", index);
    model.save_changes();
    document.getElementById(`tfp-tab-${model.get("uid")}-${index}`)?.focus({ preventScroll: true });
    scrollToPage(root, document.querySelector(`.${paneClass(model.get("uid"), index)}`), signal);
    return true;
  };
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const done = new AbortController();
  const { signal } = done;
  const panes = new Panes(model.get("uid"));
  const choice = chooser(model, signal);
  const root = element("div", { class: "tfp" }, panes.rule, choice.root);
  el.append(root);
  const show = () => {
    choice.show(model.get("selected"));
    panes.show(model.get("selected"));
    if (model.get("names")[0] === FIRST_PAGE) {
      el.closest(".tfp-view")?.classList.toggle("tfp-folded", model.get("selected") > 0);
    }
  };
  listen(model, "change:selected", show, signal);
  listen(model, "comm_live_update", () => panes.giveUp(), signal);
  show();
  followTheme(root, signal, () => {});
  keepKeys(root, signal);
  const press = ({ key }: KeyboardEvent) => {
    const page = pageOfKey(key, model.get("selected"), model.get("names").length - 1);
    if (page !== undefined) push(model, "selected", page);
  };
  new HoverKeys(choice.root, press, signal);
  whenAttached(el, () => {
    show();
    const scope = el.closest<HTMLElement>(`[class*="${PANE}"], .tfp-view`);
    followLinks(scope ?? document.body, opener(model, root, signal), signal);
  });
  return () => {
    done.abort();
    root.remove();
  };
}

export default { render };
