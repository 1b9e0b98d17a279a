import { element } from "../lib/dom";

/** Chooses a page from a list that is too long for tabs. */
export class Menu {
  readonly root: HTMLElement;
  private readonly list: HTMLSelectElement;

  constructor(names: string[], label: string, choose: (index: number) => void) {
    const options = names.map((name, index) => element("option", { value: index }, name));
    this.list = element("select", { class: "tfp-input" }, ...options);
    this.list.addEventListener("change", () => choose(this.list.selectedIndex));
    this.root = element("label", { class: "tfp-picker" }, `${label} `, this.list);
  }

  show(selected: number): void {
    this.list.selectedIndex = selected;
  }
}

/** Moves through ordered pages, such as steps. */
export class Slider {
  readonly root: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly name = element("output", {});

  constructor(
    private readonly names: string[],
    label: string,
    choose: (index: number) => void,
  ) {
    const attributes = { type: "range", min: 0, max: names.length - 1, step: 1 };
    this.range = element("input", attributes);
    this.range.addEventListener("input", () => this.show(Number(this.range.value)));
    this.range.addEventListener("change", () => choose(Number(this.range.value)));
    this.root = element("label", { class: "tfp-picker" }, `${label} `, this.range, this.name);
  }

  show(selected: number): void {
    this.range.value = String(selected);
    this.range.setAttribute("aria-valuetext", this.names[selected] ?? "");
    this.name.textContent = this.names[selected] ?? "";
  }
}
