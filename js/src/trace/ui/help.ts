import { button, element } from "../../lib/dom";
import { KEYS } from "../keyboard";

/** A table of the keys over the canvas; hidden at first. */
export function helpOverlay(onClose: () => void): HTMLElement {
  const list = element("dl", { class: "tfp-keys" });
  for (const [keys, meaning] of KEYS) list.append(element("dt", {}, keys), element("dd", {}, meaning));
  const head = element(
    "div",
    { class: "tfp-details-head" },
    element("strong", { class: "tfp-name" }, "Mouse and keys"),
  );
  head.append(button("×", "Close help", onClose));
  const note = element(
    "p",
    { class: "tfp-muted" },
    "Keys work while the pointer is on the viewer, or the focus in it.",
  );
  return element(
    "div",
    { class: "tfp-help", role: "dialog", "aria-label": "Mouse and keys", hidden: true },
    head,
    list,
    note,
  );
}
