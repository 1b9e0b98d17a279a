/** A profile in a tab of JupyterLab: the report that a kernel makes of it; the kernel ends, and no file is left. */
import type { JupyterFrontEnd } from "@jupyterlab/application";
import { IFrame } from "@jupyterlab/ui-components";

type Services = JupyterFrontEnd["serviceManager"];

const WORDS = "font: 14px system-ui, sans-serif; padding: 1em";

/** Shows the files, or the folder, as one profile; `paths` are the server's. */
export class ProfileView extends IFrame {
  private begun = false;

  constructor(
    private readonly services: Services,
    private readonly paths: string[],
  ) {
    super({ sandbox: ["allow-scripts", "allow-downloads"] });
  }

  /** Reads the profile once the view is in the page: Notebook 7 makes a view first, and opens another page for it. */
  protected override onAfterAttach(message: Parameters<IFrame["processMessage"]>[0]): void {
    super.onAfterAttach(message);
    if (this.begun) return;
    this.begun = true;
    this.say(`Reading ${this.paths.join(", ")} …`);
    report(this.services, this.paths).then(
      (html) => this.show_(html),
      (error: unknown) =>
        this.say(`This profile can't be shown. ${error instanceof Error ? error.message : error}`),
    );
  }

  private say(text: string): void {
    const line = document.createElement("p");
    line.style.cssText = WORDS;
    line.textContent = text;
    this.show_(line.outerHTML);
  }

  private show_(html: string): void {
    const frame = this.node.querySelector("iframe");
    if (!frame) return;
    // The report follows the page's colour scheme, which in a frame is that of the frame's element.
    frame.style.colorScheme = document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
    frame.srcdoc = html;
  }
}

/** Returns the report of a profile, made by a kernel that runs for that alone. */
async function report(services: Services, paths: string[]): Promise<string> {
  const [first = ""] = paths;
  const folder = first.split("/").slice(0, -1);
  const name = services.kernelspecs.specs?.default ?? "python3";
  // The kernel's folder is that of the path, which need not exist; two views with one path would share a kernel.
  const own = `tfprof-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const path = [...folder, own].join("/");
  const session = await services.sessions.startNew({
    path,
    type: "console",
    name: "tfprof",
    kernel: { name },
  });
  try {
    const request = {
      code: source(paths.map((each) => each.split("/").pop() ?? each)),
      user_expressions: { report: "_report" },
      store_history: false,
      silent: true,
    };
    const { content } = (await session.kernel?.requestExecute(request).done) ?? {};
    if (content?.status !== "ok")
      throw new Error(content?.status === "error" ? content.evalue : "The kernel ended.");
    const answer = content.user_expressions.report as { data?: Record<string, string>; evalue?: string };
    if (!answer.data?.["text/html"]) throw new Error(answer.evalue ?? "The kernel gave no report.");
    return answer.data["text/html"];
  } finally {
    await session.shutdown();
  }
}

/** The program that makes the report of files of the kernel's folder. */
export function source(names: string[]): string {
  const paths = names.map((name) => JSON.stringify(name)).join(", ");
  return [
    "import tempfile, pathlib, tfprof_nb",
    "from IPython.display import HTML",
    "with tempfile.TemporaryDirectory() as _folder:",
    `    _file = tfprof_nb.load(${names.length > 1 ? `[${paths}]` : paths}).to_html(pathlib.Path(_folder) / "report.html")`,
    '    _report = HTML(_file.read_text(encoding="utf-8"))',
  ].join("\n");
}
