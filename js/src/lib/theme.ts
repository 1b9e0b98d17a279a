const WATCHED = ["class", "data-jp-theme-light", "data-vscode-theme-kind", "theme", "style"];

/** Whether the notebook around `document` is dark: JupyterLab, VS Code, Colab, else the system's preference. */
export function isDark(page: Document = document): boolean {
  const lab = page.body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false";
  const code = page.body.dataset.vscodeThemeKind;
  if (code !== undefined) return code.includes("dark") || code === "vscode-high-contrast";
  const colab = page.documentElement.getAttribute("theme");
  if (colab) return colab === "dark";
  return page.defaultView?.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
}

/** Keeps the class `tfp-dark` of `root` in step with the notebook's theme; `onChange` is called with the first value too. */
export function followTheme(root: HTMLElement, signal: AbortSignal, onChange: (dark: boolean) => void): void {
  let last: boolean | undefined;
  const update = () => {
    const dark = isDark();
    if (dark === last) return;
    last = dark;
    root.classList.toggle("tfp-dark", dark);
    onChange(dark);
  };
  const observer = new MutationObserver(update);
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true, attributeFilter: WATCHED });
  }
  window.matchMedia?.("(prefers-color-scheme: dark)").addEventListener("change", update, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
  update();
}
