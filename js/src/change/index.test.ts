// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { FakeModel } from "../lib/model.testing";
import { APPLY, type ApplyEvent } from "./apply";
import change, { type Traits } from "./index";

const HTML = `<button class="tfp-copy">Copy</button><button class="tfp-apply">Apply</button><div class="tfp-diff">+ x</div>`;

function render(): FakeModel<Traits> {
  document.body.innerHTML = `<div id="card"></div>`;
  const model = new FakeModel<Traits>({ html: HTML, code: "x.cache()" });
  change.render({ model, el: document.getElementById("card") as HTMLElement });
  return model;
}

const clicked = (name: string) => document.querySelector<HTMLElement>(name)?.click();

it("copies the new code, and says so", async () => {
  const writeText = vi.fn(async () => {});
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  render();
  clicked(".tfp-copy");
  await vi.waitFor(() => expect(document.querySelector(".tfp-copy")?.textContent).toBe("Copied"));
  expect(writeText).toHaveBeenCalledWith("x.cache()");
});

it("says how to copy where the page may not", async () => {
  vi.stubGlobal("navigator", { clipboard: { writeText: () => Promise.reject(new Error("denied")) } });
  render();
  clicked(".tfp-copy");
  await vi.waitFor(() => expect(document.querySelector(".tfp-copy")?.textContent).toBe("Press Ctrl+C"));
});

it("asks the kernel for the changed cell, and the page to show it", async () => {
  const model = render();
  clicked(".tfp-apply");
  expect(model.sent).toEqual([{ type: "apply" }]);
  const shown: string[] = [];
  const make = (event: Event) => {
    shown.push((event as ApplyEvent).detail.text);
    event.preventDefault();
  };
  document.addEventListener(APPLY, make, { once: true });
  model.emit("msg:custom", { type: "cell", text: "x.cache()\nfit(x)" });
  expect(shown).toEqual(["x.cache()\nfit(x)"]);
  expect(document.querySelector(".tfp-apply")?.textContent).toBe("It is below");
});

it("copies the changed cell where the page makes none", async () => {
  const writeText = vi.fn(async () => {});
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  render().emit("msg:custom", { type: "cell", text: "fit(x)" });
  await vi.waitFor(() => expect(document.querySelector(".tfp-apply")?.textContent).toContain("Copied"));
  expect(writeText).toHaveBeenCalledWith("fit(x)");
});
