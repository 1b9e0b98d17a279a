import { element, OWN_KEYS } from "../lib/dom";
import type { Column } from "./columns";

/** A menu of the columns after the first, which stays; `onChange` gets those that are ticked. */
export function columnMenu(columns: readonly Column[], onChange: (shown: number[]) => void): HTMLElement {
  const boxes = columns.map(() => element("input", { ...OWN_KEYS, type: "checkbox" }) as HTMLInputElement);
  const labels = columns.map(({ header, meaning }, index) => {
    boxes[index].checked = true;
    const label = element("label", {}, boxes[index], ` ${header}`);
    label.title = meaning;
    return label;
  });
  const menu = element("div", { class: "tfp-menu" }, ...labels.slice(1));
  menu.addEventListener("change", () => {
    onChange(columns.map((_, index) => index).filter((index) => boxes[index].checked));
  });
  const summary = element(
    "summary",
    { ...OWN_KEYS, class: "tfp-button", title: "Choose columns" },
    "Columns",
  );
  return element("details", { class: "tfp-columns tfp-push" }, summary, menu);
}
