/** The plugins of the JupyterLab extension. */
import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { INotebookTracker } from "@jupyterlab/notebook";
import { addApplyChange } from "./apply_change";
import { addOpenProfile } from "./open_profile";
import { addProfileCell } from "./profile_cell";

const openProfile: JupyterFrontEndPlugin<void> = {
  id: "tfprof-nb:open",
  description: "Opens TensorFlow profiles from the file browser.",
  autoStart: true,
  requires: [IFileBrowserFactory],
  activate: addOpenProfile,
};

const profileCell: JupyterFrontEndPlugin<void> = {
  id: "tfprof-nb:profile-cell",
  description: "Profiles the current cell from the command palette.",
  autoStart: true,
  requires: [ICommandPalette, INotebookTracker],
  activate: addProfileCell,
};

const applyChange: JupyterFrontEndPlugin<void> = {
  id: "tfprof-nb:apply-change",
  description: "Puts the changed cell of a finding below the profiled one.",
  autoStart: true,
  requires: [INotebookTracker],
  activate: addApplyChange,
};

export default [openProfile, profileCell, applyChange];
