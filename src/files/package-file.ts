import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { MementoMapError } from "../errors.ts";

const NAME = "mementomap";

/**
 * A file of this package by its path relative to the package folder, whether the code runs from the
 * sources, the build, or the bundled command line. A program that bundles this package finds the files
 * in the installed package; undefined if it is not installed.
 */
export function packageFile(path: string): URL | undefined {
  root ??= ownFolder() ?? installedFolder() ?? "none";
  return root === "none" ? undefined : new URL(path, root);
}

/**
 * As {@link packageFile}, for a file that must exist.
 *
 * @throws MM_IO
 */
export function requiredFile(path: string): URL {
  const file = packageFile(path);
  if (file !== undefined) return file;
  throw new MementoMapError(
    "MM_IO",
    `${path} of the package ${NAME} is missing; install the package next to the bundled program, or use a single thread`,
  );
}

let root: URL | "none" | undefined;

/** The location of this code; for CommonJS bundles, which do not know theirs, the program started. */
function ownPlace(): string {
  const { url } = import.meta as { readonly url?: string };
  return url ?? pathToFileURL(process.argv[1] ?? process.execPath).href;
}

function ownFolder(): URL | undefined {
  for (let folder = new URL(".", ownPlace()); ; folder = new URL("..", folder)) {
    const file = new URL("package.json", folder);
    if (existsSync(file)) return nameIn(file) === NAME ? folder : undefined;
    if (folder.pathname === new URL("..", folder).pathname) return undefined;
  }
}

function installedFolder(): URL | undefined {
  try {
    const file = createRequire(ownPlace()).resolve(`${NAME}/package.json`);
    return new URL(".", pathToFileURL(file));
  } catch {
    // Not installed: bundled into a standalone program.
    return undefined;
  }
}

function nameIn(file: URL): string {
  return (JSON.parse(readFileSync(file, "utf8")) as { name?: string }).name ?? "";
}

/** The version in this package's package.json. */
export function packageVersion(): string {
  const file = packageFile("package.json");
  if (file === undefined) return "bundled";
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version; // our own file
}

/** The User-Agent of requests, with contact information if configured. */
export function userAgent(contact?: string): string {
  const own = `${NAME}/${packageVersion()}`;
  return contact === undefined ? own : `${own} (+${contact})`;
}
