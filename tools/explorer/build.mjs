// Bundles the page into the package: explorer.js and explorer.css, each one file, and LICENSES.txt for what comes from others.
// `npm ci && npm run build`; with `--check` nothing is written, and the exit code says whether the files are up to date.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const page = process.env.EXPLORER_PAGE ?? join(here, "../../anatomy/course/exploring/page"); // what the package has of it
const common = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", target: "es2022", logLevel: "warning", absWorkingDir: here };

const script = await build({ ...common, entryPoints: ["src/main.js"], format: "iife", metafile: true, outfile: "explorer.js" });
const style = await build({ ...common, entryPoints: ["style.css"], outfile: "explorer.css" });

/** The licences of all packages of which the bundle has a part. */
function notices() {
  const folders = new Set();
  for (const path of Object.keys(script.metafile.inputs)) {
    const found = path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//);
    if (found) folders.add(found[1]);
  }
  const read = (folder, file) => readFileSync(join(here, folder, file), "utf8");
  const all = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(read(folder, "package.json"));
    return `${name} ${version} (${license})\n\n${read(folder, "LICENSE").trim()}\n`;
  });
  return all.sort().join("\n" + "-".repeat(80) + "\n\n");
}

const made = { "explorer.js": script.outputFiles[0].text, "explorer.css": style.outputFiles[0].text, "LICENSES.txt": notices() };
const stale = Object.entries(made).filter(([name, text]) => {
  const path = join(page, name);
  return !existsSync(path) || readFileSync(path, "utf8") !== text;
});
if (process.argv.includes("--check")) {
  for (const [name] of stale) console.error(`${name} is not what the sources give: run \`npm run build\`.`);
  process.exitCode = stale.length ? 1 : 0;
} else {
  for (const [name, text] of Object.entries(made)) writeFileSync(join(page, name), text);
  console.log(Object.entries(made).map(([name, text]) => `${name} ${(Buffer.byteLength(text) / 1024).toFixed(1)} KB`).join(", "));
}
