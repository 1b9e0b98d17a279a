// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { followTheme, isDark } from "./theme";

beforeEach(() => {
  document.documentElement.removeAttribute("theme");
  for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
});

describe("isDark", () => {
  it.each([
    ["data-jp-theme-light", "false", true],
    ["data-jp-theme-light", "true", false],
    ["data-vscode-theme-kind", "vscode-dark", true],
    ["data-vscode-theme-kind", "vscode-high-contrast", true],
    ["data-vscode-theme-kind", "vscode-high-contrast-light", false],
    ["data-vscode-theme-kind", "vscode-light", false],
  ])("reads the body's %s=%s", (name, value, dark) => {
    document.body.setAttribute(name, value);
    expect(isDark()).toBe(dark);
  });

  it("reads Colab's theme", () => {
    document.documentElement.setAttribute("theme", "dark");
    expect(isDark()).toBe(true);
  });
});

describe("followTheme", () => {
  it("follows changes until the widget is gone", async () => {
    const root = document.createElement("div");
    const done = new AbortController();
    const heard: boolean[] = [];
    followTheme(root, done.signal, (dark) => heard.push(dark));
    document.body.setAttribute("data-jp-theme-light", "false");
    await new Promise((resolve) => setTimeout(resolve));
    expect(root.classList.contains("tfp-dark")).toBe(true);
    done.abort();
    document.body.setAttribute("data-jp-theme-light", "true");
    await new Promise((resolve) => setTimeout(resolve));
    expect(heard).toEqual([false, true]);
  });
});
