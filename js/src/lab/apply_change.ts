import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { INotebookTracker } from "@jupyterlab/notebook";
import { APPLY, type ApplyEvent } from "../change/apply";

/** Puts a changed cell below the cell whose output offers it (`change/index.ts`). */
export function addApplyChange(_: JupyterFrontEnd, notebooks: INotebookTracker): void {
  document.addEventListener(APPLY, (event) => {
    const { target, detail } = event as ApplyEvent;
    const panel = notebooks.find((one) => one.node.contains(target as Node));
    const cells = panel?.content.widgets ?? [];
    const index = cells.findIndex((cell) => cell.node.contains(target as Node));
    if (!panel?.model || index < 0) return;
    panel.model.sharedModel.insertCell(index + 1, { cell_type: "code", source: detail.text });
    panel.content.activeCellIndex = index + 1;
    event.preventDefault();
  });
}
