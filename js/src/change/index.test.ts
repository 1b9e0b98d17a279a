// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { FakeModel } from "../lib/model.testing";
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

it("asks the kernel for the changed cell", () => {
  const model = render();
  clicked(".tfp-apply");
  expect(model.sent).toEqual([{ type: "apply" }]);
});
