// Fills dist, the content of the package, next to the types written by tsc: the entry points of the library,
// and the programs (the command line and its worker threads), each bundled into a few files. Otherwise, a
// short command would spend half of its time loading modules. Code locates other files of the package with
// src/files/package-file.ts.
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import type { BuildOptions, ChunkingContext, Plugin } from "rolldown";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Packages that are loaded on first use, with their lazy replacements. Only the headers of older maps
 * need JSON5, and loading it takes longer than the work of a short command.
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

// Names are preserved, and shared code exists once: a class must be identical in all entry points.
await bundle(ENTRIES, {
  output: {
    minify: { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: true },
    chunkFileNames: "chunks/[name]-[hash].js",
  },
});
await removeOtherTypes(ENTRIES.map((entry) => `dist/${entry}.d.ts`));

// Shared code is written once. Every file costs a millisecond at startup and a file descriptor while a
// command loads; default chunking would produce a hundred files. So code that most programs use is in one
// file, and code that many use in another.
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
 * The chunk of a module, if programs share it. The imports of a module are used by at least as many
 * programs, so chunks never import each other in a cycle or load rarely used code.
 */
function sharedFile(module: string, context: ChunkingContext): string | null {
  const programs = programsOf(module, context);
  if (programs.has("bin")) return "start";
  // The shortest commands load little unused code.
  if (programs.size >= 17) return programs.has("surt") ? "common" : "common-maps";
  if (programs.size >= 4 && programs.has("lookup")) return "lookups";
  if (programs.size >= 4 && programs.has("surt")) return "names";
  if (programs.size >= 8 || (programs.size >= 4 && programs.has("merge"))) return "shared";
  if (programs.size >= 4 && programs.has("compact")) return "compaction";
  const isService = ["aggregate", "fetch", "serve"].some((name) => programs.has(name));
  if (programs.size >= 4) return isService ? "services" : "studies";
  return programs.size > 1 ? [...programs].toSorted().join("-") : null;
}

/** The names of the programs that load a module: entry points, and dynamically imported modules. */
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
    // Some modules are imported dynamically by one program and statically by another.
    checks: { ineffectiveDynamicImport: false },
    preserveEntrySignatures: "allow-extension",
    transform: { target: "node20" },
    output: { ...options.output, dir: "dist", format: "esm" },
  });
}

/** Removes declarations that no entry point reaches. */
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
