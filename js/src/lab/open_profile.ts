import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import type { NotebookPanel } from "@jupyterlab/notebook";

const COMMAND = "tfprof-nb:open";
const TYPES = [
  { name: "tfprof-xspace", displayName: "TensorFlow profile", extensions: [".xplane.pb"] },
  { name: "tfprof-trace", displayName: "Chrome trace", extensions: [".trace.json.gz"] },
];

/** Adds "Open with tfprof" to the context menu of profiles in the file browser. */
export function addOpenProfile(app: JupyterFrontEnd, browsers: IFileBrowserFactory): void {
  const selected = () => [...(browsers.tracker.currentWidget?.selectedItems() ?? [])];
  app.commands.addCommand(COMMAND, {
    label: "Open with tfprof",
    caption: "Show this TensorFlow profile in a new notebook",
    execute: () => openInNotebook(app, selected()),
  });
  for (const type of TYPES) {
    app.docRegistry.addFileType({ ...type, fileFormat: "base64", contentType: "file" });
    const selector = `.jp-DirListing-item[data-file-type="${type.name}"]`;
    app.contextMenu.addItem({ command: COMMAND, selector, rank: 0 });
  }
}

/** Makes a notebook beside the first file that loads the files, the hosts of one run, and runs it. */
async function openInNotebook(app: JupyterFrontEnd, files: { path: string; name: string }[]): Promise<void> {
  if (!files.length) return;
  const folder = files[0]?.path.split("/").slice(0, -1).join("/") ?? "";
  const { contents } = app.serviceManager;
  const { path } = await contents.newUntitled({ path: folder, type: "notebook" });
  await contents.save(path, notebook(files.map((file) => file.name)));
  const opened = await app.commands.execute("docmanager:open", { path, kernel: { name: "python3" } });
  const panel = opened as NotebookPanel | undefined;
  if (!panel) return; // Notebook 7 opens it in a tab of its own, where the reader runs it
  await panel.context.ready;
  await panel.sessionContext.ready;
  await app.commands.execute("notebook:run-all-cells");
}

/** The model of a notebook with one cell that shows the files. */
export function notebook(names: string[]): object {
  const paths = names.map((name) => JSON.stringify(name)).join(", ");
  const source = `import tfprof_nb as tp\n\np = tp.load(${names.length > 1 ? `[${paths}]` : paths})\np`;
  const cell = {
    cell_type: "code",
    id: "profile",
    source,
    metadata: {},
    outputs: [],
    execution_count: null,
  };
  const metadata = { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } };
  return {
    type: "notebook",
    format: "json",
    content: { cells: [cell], metadata, nbformat: 4, nbformat_minor: 5 },
  };
}
