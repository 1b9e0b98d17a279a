// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { APPLY, type ApplyEvent } from "../change/apply";
import { FakeModel } from "../lib/model.testing";
import head, { type Traits } from "./index";

function render(reopen = ""): FakeModel<Traits> {
  document.body.innerHTML = `<div id="form-1"></div><div id="form-2"></div><div id="other"></div><div class="tfp-view"><div id="head"></div></div>`;
  const model = new FakeModel<Traits>({ title: "<b>baseline</b>", static_id: "form-", reopen });
  head.render({ model, el: document.getElementById("head") as HTMLElement });
  return model;
}

it("writes the title as text", () => {
  render();
  expect(document.querySelector(".tfp-head")?.textContent).toBe("<b>baseline</b>");
});

it("hides every static form of the view, and no other", () => {
  render();
  const shown = ["form-1", "form-2", "other"].map((id) => {
    const form = document.getElementById(id) as HTMLElement;
    return getComputedStyle(form).display !== "none";
  });
  expect(shown).toEqual([false, false, true]);
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

it("keeps the keys of everything in the view from the notebook's shortcuts", () => {
  document.body.innerHTML = `<div class="widget-vbox"><div id="head"></div><p><a href="#x">link</a></p></div><a href="#y">no</a>`;
  const model = new FakeModel<Traits>({ title: "", static_id: "", reopen: "" });
  head.render({ model, el: document.getElementById("head") as HTMLElement });
  const links = [...document.querySelectorAll("a")];
  for (const link of links) link.focus();
  expect(links.map((link) => link.dataset.lmSuppressShortcuts)).toEqual(["true", undefined]);
});

it("offers, once the kernel has ended, the cell that opens the profile again", () => {
  render();
  expect(document.querySelector(".tfp-ended button")).toBeNull();
  render("%load_ext tfprof_nb\n%tfprofile_load logs");
  const made: string[] = [];
  const make = (event: Event) => {
    made.push((event as ApplyEvent).detail.text);
    event.preventDefault();
  };
  document.addEventListener(APPLY, make, { once: true });
  document.querySelector<HTMLElement>(".tfp-ended button")?.click();
  expect(made).toEqual(["%load_ext tfprof_nb\n%tfprofile_load logs"]);
  expect(document.querySelector(".tfp-ended pre")?.textContent).toContain("%tfprofile_load logs");
});
