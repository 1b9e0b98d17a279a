import { at } from "../lib/at";
import { element } from "../lib/dom";
import type { Column } from "./columns";

/** A menu of all columns but the first, which is always shown; hidden ones are not ticked at first. `onChange` gets the indices of the ticked columns. */
export function columnMenu(columns: readonly Column[], onChange: (shown: number[]) => void): HTMLElement {
  const boxes = columns.map(({ hidden }) => element("input", { type: "checkbox", checked: !hidden }));
  const labels = boxes.map((box, index) => {
    const { header, meaning } = at(columns, index);
    return element("label", { title: meaning }, box, ` ${header}`);
  });
  const menu = element("div", { class: "tfp-menu" }, ...labels.slice(1));
  menu.addEventListener("change", () => {
    onChange(boxes.flatMap((box, index) => (box.checked ? [index] : [])));
  });
  const summary = element("summary", { class: "tfp-button", title: "Choose columns" }, "Columns");
  return element("details", { class: "tfp-columns tfp-push" }, summary, menu);
}
