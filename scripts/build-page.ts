// Builds the application in page/ into dist/page/: scripts and styles with a digest in their names, a
// lazily loaded script for each view, and page.json, which lists them for the server. server.js renders the
// first view on the server. elements.js (custom elements for third-party pages) has a stable name without a
// digest, because those pages refer to it.
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type InlineConfig, type Plugin, type Rolldown } from "vite";
import { APP_STYLE } from "../src/page/app-style.ts";
import { CHART_STYLE } from "../src/page/chart/chart-style.ts";
import { type AssetList } from "../src/page/page-assets.ts";
import { VIEWS } from "../src/page/page-data.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = `${ROOT}dist/page`;

/** The style of the shell, and that of charts, which reports share. */
const APP_CSS: Plugin = {
  name: "app-css",
  resolveId: (id) => (id === "virtual:app.css" ? "\0virtual:app.css" : undefined),
  load: (id) => (id === "\0virtual:app.css" ? APP_STYLE + CHART_STYLE : undefined),
};

const CONFIG: InlineConfig = {
  configFile: false,
  root: `${ROOT}page`,
  base: "./",
  logLevel: "warn",
  plugins: [APP_CSS],
  // Without private suffixes, which are more than half of the list.
  resolve: { alias: { tldts: "tldts-icann" } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
};

const { output } = (await build({
  ...CONFIG,
  build: {
    outDir: OUT,
    // The types of src/page/ are in the same folder; `npm run build` starts with an empty one.
    emptyOutDir: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsDir: "",
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { app: `${ROOT}page/main.tsx`, elements: `${ROOT}page/elements.ts` },
      preserveEntrySignatures: "allow-extension",
      output: {
        entryFileNames: ({ name }) => (name === "elements" ? "elements.js" : "[name]-[hash].js"),
        chunkFileNames: "[name]-[hash].js",
      },
    },
  },
})) as Rolldown.RolldownOutput;

await build({
  ...CONFIG,
  ssr: { noExternal: true },
  build: {
    ssr: `${ROOT}page/server.tsx`,
    outDir: OUT,
    emptyOutDir: false,
    target: "node20",
    minify: true,
    rolldownOptions: { output: { entryFileNames: "server.js", codeSplitting: false } },
  },
});

const chunks = output.filter((file) => file.type === "chunk");
const entry = chunks.find(({ isEntry, name }) => isEntry && name === "app");
if (entry === undefined) throw new Error("the build of page/ has no entry point");
const views = VIEWS.map((view) => {
  const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/views/${view}.tsx`));
  return [view, chunk === undefined ? [] : [...needsOf(chunk)]] as const;
});
const list: AssetList = {
  script: entry.fileName,
  styles: [...(entry.viteMetadata?.importedCss ?? [])],
  views: Object.fromEntries(views),
  files: output.map(({ fileName }) => fileName),
};
await writeFile(
  `${OUT}/elements.d.ts`,
  ["MementoMapExplorer", "MementoTimeline"]
    .map((name) => `export declare class ${name} extends HTMLElement {}\n`)
    .join(""),
);
await writeFile(`${OUT}/page.json`, `${JSON.stringify(list, undefined, 1)}\n`);

/** A script, its styles, and its imports besides the entry. */
function needsOf(chunk: Rolldown.OutputChunk, seen = new Set<string>()): Set<string> {
  if (chunk === entry || seen.has(chunk.fileName)) return seen;
  seen.add(chunk.fileName);
  for (const css of chunk.viteMetadata?.importedCss ?? []) seen.add(css);
  for (const name of chunk.imports) {
    const next = chunks.find(({ fileName }) => fileName === name);
    if (next !== undefined) needsOf(next, seen);
  }
  return seen;
}
