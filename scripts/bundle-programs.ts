// Fills dist, which is what the package has, beside the types that tsc wrote there: the entries of the
// library, the command line and the threads it starts, each in a few files. A short command would else
// spend half of its time on loading modules. Code finds other files of the package by
// src/files/package-file.ts, wherever it lies.
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { BuildOptions, Plugin } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const OPTIONS: BuildOptions = {
  outbase: "src",
  outdir: "dist",
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
};

/** Leaves commands in files of their own, in a folder, which are loaded when they are called. */
function commandsApart(folder: string): Plugin {
  return {
    name: "commands-apart",
    setup(builder) {
      builder.onResolve({ filter: /\/commands\/[^/]+\.ts$/ }, ({ kind, path }) =>
        kind === "dynamic-import"
          ? { path: `${folder}/${basename(path, ".ts")}.js`, external: true }
          : undefined,
      );
    },
  };
}

/**
 * Packages that are loaded when they are first used, and what stands in for them until then. Only the
 * headers of older maps need JSON5, and only requests need undici, of which two parts do: to load them
 * takes longer than a short command needs for its work, and all of undici three times as long.
 */
const LATE: Readonly<Record<string, string>> = {
  json5: `
    export default { parse: (text) => require("json5").parse(text) };
  `,
  undici: `
    export const buildConnector = (options) => require("undici/lib/core/connect.js")(options);
    export function Pool(origin, options) {
      const Loaded = require("undici/lib/dispatcher/pool.js");
      return new Loaded(origin, options);
    }
  `,
};

const LATE_PACKAGES: Plugin = {
  name: "late-packages",
  setup(builder) {
    const filter = /^(?:json5|undici)$/;
    builder.onResolve({ filter }, ({ path }) => ({ path, namespace: "late" }));
    builder.onLoad({ filter, namespace: "late" }, ({ path }) => ({
      contents: `
        import { createRequire } from "node:module";
        const require = createRequire(import.meta.url);
        ${LATE[path]}
      `,
    }));
  },
};

const ENTRIES = ["src/index.ts", "src/node.ts", "src/server.ts"];
const PROGRAM: BuildOptions = { ...OPTIONS, minify: true, plugins: [LATE_PACKAGES] };

// With their names, and with one copy of what entries share: a class must be the same in all of them.
await build({
  ...OPTIONS,
  entryPoints: ENTRIES,
  minifySyntax: true,
  minifyWhitespace: true,
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
});

await removeOtherTypes(ENTRIES.map((entry) => entry.replace(/^src/, "dist")));

const sources = await readdir("src", { recursive: true });
const workers = sources.filter((path) => path.endsWith("-worker.ts"));
await build({ ...PROGRAM, entryPoints: workers.map((path) => `src/${path}`) });

await build({
  ...PROGRAM,
  entryPoints: ["src/cli/bin.ts"],
  plugins: [commandsApart("./commands"), LATE_PACKAGES],
});
// Each command by itself: what several share is written several times, so that no command is in
// more files than it has parts to load late. A file costs a millisecond at every start: with one copy
// of what is shared, in some 15 files for each command, a lookup takes half as much time again.
// Those that run long, or wait for servers, are built with another that needs much the same: two of them
// have one file in common. More would have many, which are opened at once, and files that are open are few on
// some machines.
const commands = (await readdir("src/cli/commands")).map((file) => basename(file, ".ts"));
const pairs = [
  ["aggregate", "route"],
  ["serve", "fetch"],
  ["analyze", "logs"],
  ["evaluate", "fit"],
  ["harvest", "validate"],
];
const alone = commands.filter((name) => !pairs.flat().includes(name)).map((name) => [name]);
await Promise.all(
  [...alone, ...pairs].map((names) =>
    build({
      ...PROGRAM,
      entryPoints: names.map((name) => `src/cli/commands/${name}.ts`),
      splitting: true,
      chunkNames: "cli/chunks/[name]-[hash]",
      plugins: [commandsApart("."), LATE_PACKAGES],
    }),
  ),
);

/** Removes declarations that no entry leads to. */
async function removeOtherTypes(entries: readonly string[]): Promise<void> {
  const needed = new Set<string>();
  const visit = async (path: string): Promise<void> => {
    if (needed.has(path)) return;
    needed.add(path);
    const text = await readFile(path, "utf8");
    const imports = text.matchAll(/(?:from |import\()"(\.{1,2}\/[^"]+)\.(?:js|ts)"/g);
    for (const [, name = ""] of imports) await visit(`${join(dirname(path), name)}.d.ts`);
  };
  for (const entry of entries) await visit(entry.replace(/\.ts$/, ".d.ts"));
  const files = await readdir("dist", { recursive: true, withFileTypes: true });
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const others = paths.filter((path) => path.endsWith(".d.ts") && !needed.has(path));
  await Promise.all(others.map((path) => rm(path)));
}
