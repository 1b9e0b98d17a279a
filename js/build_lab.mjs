// Bundles the JupyterLab extension as a prebuilt one: a folder that JupyterLab finds in share/jupyter/labextensions.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const NAME = "tfprof-nb";
const PACKAGE = readFileSync(new URL("../tfprof_nb/__init__.py", import.meta.url), "utf8");
const VERSION = /__version__ = "(.+)"/.exec(PACKAGE)[1];
const outdir = fileURLToPath(new URL("labextension/", import.meta.url));

const { outputFiles } = await build({
  entryPoints: ["src/lab/index.ts"],
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});
const script = outputFiles[0].contents;
// The name changes with the content, so that browsers never run an old one.
const load = `static/remoteEntry.${createHash("sha256").update(script).digest("hex").slice(0, 16)}.js`;
const about = { name: NAME, version: VERSION, jupyterlab: { _build: { load, extension: "./extension" } } };
const origin = {
  packageManager: "python",
  packageName: "tfprof_nb",
  uninstallInstructions: "pip uninstall tfprof_nb",
};

rmSync(outdir, { recursive: true, force: true });
mkdirSync(`${outdir}static`, { recursive: true });
writeFileSync(outdir + load, script);
writeFileSync(`${outdir}package.json`, JSON.stringify(about, null, 2));
writeFileSync(`${outdir}install.json`, JSON.stringify(origin, null, 2));
console.log(`labextension ${script.length.toLocaleString("en-US")} bytes`);
