import type { JupyterFrontEnd } from "@jupyterlab/application";
import { MainAreaWidget } from "@jupyterlab/apputils";
import {
  ABCWidgetFactory,
  type DocumentRegistry,
  DocumentWidget,
  TextModelFactory,
} from "@jupyterlab/docregistry";
import type { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { ProfileView } from "./profile_view";

const COMMAND = "tfprof-nb:open";
const FACTORY = "TensorFlow profile";
const TYPES = [
  { name: "tfprof-xspace", displayName: "TensorFlow profile", extensions: [".xplane.pb"] },
  { name: "tfprof-trace", displayName: "Chrome trace", extensions: [".trace.json.gz"] },
];
const RUN = /(^|\/)plugins\/profile\/[^/]+$/;
const LOGS = /(^|\/)tfprof_logs$/;

type Services = JupyterFrontEnd["serviceManager"];
type Item = { path: string; name: string; type: string };

/** Opens profiles by a double click in the file browser, and them and run folders from its context menu. */
export function addOpenProfile(app: JupyterFrontEnd, browsers: IFileBrowserFactory): void {
  const selected = (): Item[] => [...(browsers.tracker.currentWidget?.selectedItems() ?? [])];
  app.commands.addCommand(COMMAND, {
    label: "Open with tfprof",
    caption: "Show this TensorFlow profile",
    isVisible: () => selected().every(isProfile),
    execute: () => open(app, selected()),
  });
  for (const type of TYPES) {
    app.docRegistry.addFileType({ ...type, fileFormat: "base64", contentType: "file" });
    const selector = `.jp-DirListing-item[data-file-type="${type.name}"]`;
    app.contextMenu.addItem({ command: COMMAND, selector, rank: 0 });
  }
  app.contextMenu.addItem({ command: COMMAND, selector: '.jp-DirListing-item[data-isdir="true"]', rank: 0 });
  app.docRegistry.addModelFactory(new UnreadFactory(false));
  // The cast: JupyterLab declares an undefined property, which its interface does not take.
  app.docRegistry.addWidgetFactory(new ProfileFactory(app.serviceManager) as DocumentRegistry.WidgetFactory);
}

/** Whether a file, or a folder, is one that opens: a run's folder, or that of a notebook's captures. */
export function isProfile({ path, type }: { path: string; type: string }): boolean {
  return type !== "directory" || RUN.test(path) || LOGS.test(path);
}

/** Shows one file as a document, several as the hosts of one run, and a folder as its newest run. */
async function open(app: JupyterFrontEnd, items: Item[]): Promise<void> {
  const [first] = items;
  if (!first) return;
  if (items.length === 1 && first.type !== "directory") {
    await app.commands.execute("docmanager:open", { path: first.path, factory: FACTORY });
    return;
  }
  const content = new ProfileView(
    app.serviceManager,
    items.map((item) => item.path),
  );
  content.title.label = first.name;
  content.title.closable = true;
  app.shell.add(new MainAreaWidget({ content }), "main");
}

/** Makes documents without reading their files, which can be large: the kernel reads them. */
class UnreadFactory extends TextModelFactory {
  override get name(): string {
    return "tfprof-unread";
  }
  override get fileFormat(): "text" {
    return null as unknown as "text"; // JupyterLab then asks for no content
  }
}

class ProfileFactory extends ABCWidgetFactory<DocumentWidget<ProfileView>> {
  constructor(private readonly services: Services) {
    const names = TYPES.map((type) => type.name);
    super({ name: FACTORY, modelName: "tfprof-unread", fileTypes: names, defaultFor: names, readOnly: true });
  }

  protected override createNewWidget(context: DocumentRegistry.Context): DocumentWidget<ProfileView> {
    return new DocumentWidget({ content: new ProfileView(this.services, [context.path]), context });
  }
}
