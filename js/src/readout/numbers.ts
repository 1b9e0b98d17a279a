import { element } from "../lib/dom";

/** The chart's numbers as a table, for readers who can't see the chart or want to copy them. Made when first opened. */
export function numbers(title: string, rows: () => string[][]): HTMLDetailsElement {
  const summary = element("summary", { "aria-label": `Numbers of the chart ${title}` }, "Numbers");
  const root = element("details", { class: "tfp-numbers" }, summary);
  root.addEventListener("toggle", () => {
    if (!root.querySelector("table")) root.append(table(title, rows()));
  });
  return root;
}

function table(title: string, [header = [], ...rows]: string[][]): HTMLElement {
  const cells = (row: string[], scope: string) =>
    row.map((text, k) =>
      k === 0 || scope === "col" ? element("th", { scope }, text) : element("td", {}, text),
    );
  const head = element("thead", {}, element("tr", {}, ...cells(header, "col")));
  const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row, "row"))));
  // Focusable, so that the arrow keys scroll it.
  const attributes = {
    class: "tfp-numbers-scroll",
    tabindex: 0,
    role: "region",
    "aria-label": title,
  };
  return element("div", attributes, element("table", {}, head, body));
}
