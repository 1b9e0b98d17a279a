/** What we use of JupyterLab 4: just enough of its types, since its packages are those of the running application. */

export interface Commands {
  addCommand(id: string, options: { label: string; caption?: string; execute: () => unknown }): unknown;
  execute(id: string, args?: object): Promise<unknown>;
}

export interface Application {
  commands: Commands;
  contextMenu: { addItem(options: { command: string; selector: string; rank: number }): unknown };
  docRegistry: { addFileType(options: FileType): unknown };
  serviceManager: { contents: Contents };
}

export interface FileType {
  name: string;
  displayName: string;
  extensions: string[];
  fileFormat: "base64" | "text" | "json";
  contentType: "file";
}

export interface Contents {
  newUntitled(options: { path: string; type: "notebook" }): Promise<{ path: string }>;
  rename(path: string, to: string): Promise<{ path: string }>;
  save(path: string, model: object): Promise<unknown>;
}

export interface FileBrowserFactory {
  tracker: { currentWidget: { selectedItems(): Iterable<{ path: string; name: string }> } | null };
}

export interface Kernel {
  requestExecute(content: { code: string; store_history: boolean }): { done: Promise<unknown> };
}

export interface NotebookPanel {
  context: { ready: Promise<void> };
  sessionContext: { ready: Promise<void>; session: { kernel: Kernel | null } | null };
  content: { activeCell: { model: { type: string; sharedModel: SharedSource } } | null };
}

export interface SharedSource {
  getSource(): string;
  setSource(text: string): void;
}

export interface NotebookTracker {
  currentWidget: NotebookPanel | null;
}

export interface CommandPalette {
  addItem(options: { command: string; category: string }): unknown;
}

/** An object that stands for a service of the application. */
export type Token = object;

/** A plugin's `activate` is given the services of `requires`, in order. */
export interface Plugin {
  id: string;
  description: string;
  autoStart: boolean;
  requires: Token[];
  activate(app: Application, ...services: never[]): void;
}

type Shared = Record<string, { get: () => Promise<() => Record<string, unknown>> }>;

/** The packages that JupyterLab shares with its extensions, by name and version. */
export type ShareScope = Record<string, Shared | undefined>;

/** Returns what a package of the running application exports under a name. */
export async function fromLab(scope: ShareScope, name: string, exported: string): Promise<Token> {
  const [version] = Object.values(scope[name] ?? {});
  if (!version) throw new Error(`tfprof_nb: this JupyterLab does not share ${name}.`);
  return (await version.get())()[exported] as Token;
}
