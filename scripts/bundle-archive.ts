// Writes an archive of Node, the command line and its dependencies, for machines without Node: cluster
// workers receive it through `spark-submit --archives`. It contains the Node that runs this script, so it is
// for the same platform. docs/decisions/0038-archive-with-node.md explains why it is not a single executable.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Locates its own folder without other programs: PATH may be empty, and the script may be a symbolic link. */
const START = `#!/bin/sh
here=\${0%/*}
exec "$here/node" "$here/../lib/mementomap/dist/cli/bin.js" "$@"
`;

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const [argument] = process.argv.slice(2);
const output = resolve(argument ?? "mementomap.tar.gz");
const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), "mementomap-archive-"));
try {
  const library = join(scratch, "lib", "mementomap");
  await mkdir(join(scratch, "bin"), { recursive: true });
  await cp(process.execPath, join(scratch, "bin", "node"), { dereference: true });
  await writeFile(join(scratch, "bin", "mementomap"), START);
  await chmod(join(scratch, "bin", "mementomap"), 0o755);
  await cp(join(root, "dist"), join(library, "dist"), { recursive: true, filter: isNeeded });
  for (const file of ["package.json", "LICENSE"]) await cp(join(root, file), join(library, file));
  for (const folder of await packagesOf(root)) {
    await cp(folder, join(library, folder.slice(root.length)), {
      recursive: true,
      filter: isNeeded,
    });
  }
  await mkdir(dirname(output), { recursive: true });
  execFileSync("tar", ["-C", scratch, "-czf", output, "bin", "lib"]);
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.stdout.write(`${output}\n`);

/** Leaves out types and source maps. */
function isNeeded(path: string): boolean {
  return !/\.(?:d\.[cm]?ts|map|md)$/.test(path);
}

/** The folders of all runtime dependencies of a package. */
async function packagesOf(folder: string): Promise<string[]> {
  const found = new Set<string>();
  const visit = async (from: string): Promise<void> => {
    const text = await readFile(join(from, "package.json"), "utf8");
    const manifest = JSON.parse(text) as Manifest; // written by npm
    for (const name of Object.keys({ ...manifest.peerDependencies, ...manifest.dependencies })) {
      const at = placeOf(name, from);
      if (at === undefined || found.has(at) || name.startsWith("@types/")) continue;
      found.add(at);
      await visit(at);
    }
  };
  await visit(folder);
  return [...found];
}

/** The folder of a package as resolved from another; undefined for a missing optional dependency. */
function placeOf(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(root.replace(/\/$/, "")); folder = dirname(folder)) {
    const at = join(folder, "node_modules", name);
    if (existsSync(at)) return at;
  }
  return undefined;
}
