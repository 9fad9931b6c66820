// Puts the command line and the threads it starts into a few files each, in place of what tsc made
// of them: a short command would else spend half of its time on loading modules. The library stays
// as it is. Code finds other files of the package by src/node/package-file.ts, wherever it lies.
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const OPTIONS: BuildOptions = {
  outbase: "src",
  outdir: "dist",
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true,
  allowOverwrite: true,
  logLevel: "warning",
};

const sources = await readdir("src/node", { recursive: true });
const workers = sources.filter((path) => path.endsWith("/worker.ts"));

await build({ ...OPTIONS, entryPoints: workers.map((path) => `src/node/${path}`) });
// A file for each command, and what they share.
await build({
  ...OPTIONS,
  entryPoints: ["src/cli/bin.ts"],
  splitting: true,
  chunkNames: "cli/chunks/[name]-[hash]",
});
