import "../lib/theme.css";
import "./trace.css";
import { element, keepKeys } from "../lib/dom";
import { duration, grouped } from "../lib/format";
import type { RenderProps } from "../lib/host";
import { App } from "./app";
import { decodeTrace } from "./data/decode";
import type { Traits } from "./traits";

function render({ model, el }: RenderProps<Traits>): () => void {
  const done = new AbortController();
  const header = model.get("header");
  const message = element("p", { class: "tfp-message", role: "status" });
  const root = element("div", { class: "tfp tfp-trace" }, message);
  el.append(root);
  keepKeys(root, done.signal);
  message.textContent = `Reading ${grouped(header.events)} events over ${duration(header.span_ps)} …`;
  decodeTrace(header, model.get("payload"))
    .then((slices) => {
      if (done.signal.aborted) return;
      message.remove();
      new App(root, model, slices, done.signal);
    })
    .catch((error: unknown) => {
      message.textContent = `The timeline cannot be shown. ${error instanceof Error ? error.message : error}`;
    });
  return () => {
    done.abort();
    root.remove();
  };
}

export default { render };
