// Bundles each widget into one self-contained ES module (and one style sheet) beside the Python code that serves it.
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const WIDGETS = ["change", "flame", "head", "readout", "table", "tabs", "trace"];
const outdir = fileURLToPath(new URL("../tfprof_nb/render/static/", import.meta.url));
// A widget's state carries its own copy of its bundle, so size is paid once per widget shown.
const MAX_BYTES = 90_000;

await build({
  entryPoints: {
    ...Object.fromEntries(WIDGETS.map((name) => [name, `src/${name}/index.ts`])),
    report: "src/report/index.ts",
  },
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  outdir,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});

for (const file of readdirSync(outdir)) {
  const bytes = statSync(outdir + file).size;
  if (bytes > MAX_BYTES) throw new Error(`${file} has ${bytes} bytes; the limit is ${MAX_BYTES}.`);
  console.log(`${file.padEnd(12)} ${bytes.toLocaleString("en-US")} bytes`);
}
