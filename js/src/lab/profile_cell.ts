import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { ICommandPalette } from "@jupyterlab/apputils";
import type { INotebookTracker } from "@jupyterlab/notebook";

const COMMAND = "tfprof-nb:profile-cell";
const MAGIC = "%%tfprofile";

/** Adds "Profile the current cell" to the command palette: it puts the magic on top of the cell, and runs it. */
export function addProfileCell(
  app: JupyterFrontEnd,
  palette: ICommandPalette,
  notebooks: INotebookTracker,
): void {
  app.commands.addCommand(COMMAND, {
    label: "Profile the current cell",
    caption: `Put ${MAGIC} on top of the cell and run it`,
    execute: () => profileCell(app, notebooks),
  });
  palette.addItem({ command: COMMAND, category: "TensorFlow Profiler" });
}

async function profileCell(app: JupyterFrontEnd, notebooks: INotebookTracker): Promise<void> {
  const panel = notebooks.currentWidget;
  const cell = panel?.content.activeCell?.model;
  const kernel = panel?.sessionContext.session?.kernel;
  if (!kernel || cell?.type !== "code") return;
  await kernel.requestExecute({ code: "%load_ext tfprof_nb", store_history: false }).done;
  cell.sharedModel.setSource(withMagic(cell.sharedModel.getSource()));
  await app.commands.execute("notebook:run-cell");
}

/** The cell's text with the magic on top, unless it is there. */
export function withMagic(source: string): string {
  return source.trimStart().startsWith(MAGIC) ? source : `${MAGIC}\n${source}`;
}
