/**
 * The JupyterLab extension. JupyterLab loads this script, then asks the container below for its plugins; the services
 * that they need come from the running application (webpack's module federation, which JupyterLab's own builder also
 * uses).
 */
import { fromLab, type Plugin, type ShareScope } from "./jupyterlab";
import { addOpenProfile } from "./open_profile";
import { addProfileCell } from "./profile_cell";

declare global {
  interface Window {
    _JUPYTERLAB?: Record<string, unknown>;
  }
}

let scope: ShareScope = {};

async function plugins(): Promise<Plugin[]> {
  return [
    {
      id: "tfprof-nb:open",
      description: "Opens TensorFlow profiles from the file browser.",
      autoStart: true,
      requires: [await fromLab(scope, "@jupyterlab/filebrowser", "IFileBrowserFactory")],
      activate: addOpenProfile,
    },
    {
      id: "tfprof-nb:profile-cell",
      description: "Profiles the current cell from the command palette.",
      autoStart: true,
      requires: [
        await fromLab(scope, "@jupyterlab/apputils", "ICommandPalette"),
        await fromLab(scope, "@jupyterlab/notebook", "INotebookTracker"),
      ],
      activate: addProfileCell,
    },
  ];
}

const container = {
  init(shared: ShareScope): void {
    scope = shared;
  },
  async get(): Promise<() => object> {
    const found = await plugins();
    return () => ({ __esModule: true, default: found });
  },
};

window._JUPYTERLAB = { ...window._JUPYTERLAB, "tfprof-nb": container };
