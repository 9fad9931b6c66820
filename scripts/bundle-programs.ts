// Fills dist, which is what the package has, beside the types that tsc wrote there: the entries of the
// library, and the programs (the command line and the threads it starts), each in a few files. A short
// command would otherwise spend half of its time on loading modules. Code finds other files of the package
// by src/files/package-file.ts.
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import type { BuildOptions, ChunkingContext, Plugin } from "rolldown";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Packages that are loaded when they are first used, and what stands in for them until then. Only the
 * headers of older maps need JSON5: to load it takes longer than a short command needs for its work.
 */
const LATE: Readonly<Record<string, string>> = {
  json5: `
    export default { parse: (text) => require("json5").parse(text) };
  `,
};

const LATE_PACKAGES: Plugin = {
  name: "late-packages",
  resolveId: (id) => (id in LATE ? `\0late:${id}` : undefined),
  load: (id) =>
    id.startsWith("\0late:")
      ? `
        import { createRequire } from "node:module";
        const require = createRequire(import.meta.url);
        ${LATE[id.slice("\0late:".length)]}
      `
      : undefined,
};

const ENTRIES = ["index", "node", "server"];

// With their names, and with one copy of what entries share: a class must be the same in all of them.
await bundle(ENTRIES, {
  output: {
    minify: { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: true },
    chunkFileNames: "chunks/[name]-[hash].js",
  },
});
await removeOtherTypes(ENTRIES.map((entry) => `dist/${entry}.d.ts`));

// What several programs share is written once. A file costs a millisecond at every start, and all that a command
// needs are opened at once, which takes file descriptors; in pieces as small as sharing allows, there would be a
// hundred. So what most programs use is in one file, what many use in another.
const sources = await readdir("src", { recursive: true });
const workers = sources.filter((path) => path.endsWith("-worker.ts"));
await bundle(["cli/bin", ...workers.map((path) => path.replace(/\.ts$/, ""))], {
  plugins: [LATE_PACKAGES],
  output: {
    minify: true,
    chunkFileNames: "programs/[name]-[hash].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: sharedFile, debugName: "shared", minShareCount: 2 }],
    },
  },
});

/**
 * The file that a module goes into, if programs share it. What a module imports is used by at least as many
 * programs, so these files never import each other in a circle, and none loads what hardly any command needs.
 */
function sharedFile(module: string, context: ChunkingContext): string | null {
  const programs = programsOf(module, context);
  if (programs.has("bin")) return "start";
  // The shortest commands load little that they do not need.
  if (programs.size >= 17) return programs.has("surt") ? "common" : "common-maps";
  if (programs.size >= 4 && programs.has("lookup")) return "lookups";
  if (programs.size >= 4 && programs.has("surt")) return "names";
  if (programs.size >= 8 || (programs.size >= 4 && programs.has("merge"))) return "shared";
  if (programs.size >= 4 && programs.has("compact")) return "compaction";
  const isService = ["aggregate", "fetch", "serve"].some((name) => programs.has(name));
  if (programs.size >= 4) return isService ? "services" : "studies";
  return programs.size > 1 ? [...programs].toSorted().join("-") : null;
}

/** The names of the programs that load a module: entries, and modules that are imported when needed. */
function programsOf(module: string, context: ChunkingContext): Set<string> {
  const programs = new Set<string>();
  const modules = new Set([module]);
  for (const path of modules) {
    const info = context.getModuleInfo(path);
    if (info === null) continue;
    if (info.isEntry || info.dynamicImporters.length > 0) programs.add(basename(path, ".ts"));
    for (const importer of info.importers) modules.add(importer);
  }
  return programs;
}

async function bundle(names: readonly string[], options: BuildOptions): Promise<void> {
  const plugins = [options.plugins].flat();
  await build({
    ...options,
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    external: (id) => /^[^./\0]/.test(id) && !(plugins.includes(LATE_PACKAGES) && id in LATE),
    platform: "node",
    // Some modules are imported late by one program and at once by another.
    checks: { ineffectiveDynamicImport: false },
    preserveEntrySignatures: "allow-extension",
    transform: { target: "node20" },
    output: { ...options.output, dir: "dist", format: "esm" },
  });
}

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
  for (const entry of entries) await visit(entry);
  const files = await readdir("dist", { recursive: true, withFileTypes: true });
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const others = paths.filter((path) => path.endsWith(".d.ts") && !needed.has(path));
  await Promise.all(others.map((path) => rm(path)));
}
