// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { FakeModel } from "../lib/model.testing";
import head, { type Traits } from "./index";

function render(): FakeModel<Traits> {
  document.body.innerHTML = `<div id="form"></div><div id="again"></div><div class="tfp-view"><div id="head"></div></div>`;
  const model = new FakeModel<Traits>({ title: "<b>baseline</b>", static_id: "form" });
  head.render({ model, el: document.getElementById("head") as HTMLElement });
  return model;
}

const shown = (id: string) => document.getElementById(id)?.style.display !== "none";

it("writes the title as text", () => {
  render();
  expect(document.querySelector(".tfp-head")?.textContent).toBe("<b>baseline</b>");
});

it("hides the static form, and that of the next showing", () => {
  const model = render();
  expect([shown("form"), shown("again")]).toEqual([false, true]);
  model.set("static_id", "again");
  expect(shown("again")).toBe(false);
});

it("tells the view which theme the notebook has", async () => {
  document.body.dataset.jpThemeLight = "false";
  render();
  const view = document.querySelector(".tfp-view");
  expect(view?.classList.contains("tfp-dark")).toBe(true);
  document.body.dataset.jpThemeLight = "true";
  await new Promise((resolve) => setTimeout(resolve));
  expect(view?.classList.contains("tfp-dark")).toBe(false);
});
