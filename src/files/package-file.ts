import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { MementoMapError } from "../errors.ts";

const NAME = "mementomap";

/**
 * A file of this package by its path from the package's folder, whether the code that asks for it
 * runs from the sources, the build, or the bundled command line. A program that has this package
 * bundled into it finds the files where the package is installed; undefined where it is not.
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
    `${path} of the package ${NAME} is missing; install the package next to the bundled program, or use one thread`,
  );
}

let root: URL | "none" | undefined;

/** Where this code is; bundles in CommonJS do not know, and are taken to be where they were started. */
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
    // Not installed: bundled into a program that is on its own.
    return undefined;
  }
}

function nameIn(file: URL): string {
  return (JSON.parse(readFileSync(file, "utf8")) as { name?: string }).name ?? "";
}

/** The version of this package, from its own package.json. */
export function packageVersion(): string {
  const file = packageFile("package.json");
  if (file === undefined) return "bundled";
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version; // our own file
}

/** How this program names itself to servers, with whom they can write to where that is said. */
export function userAgent(contact?: string): string {
  const own = `${NAME}/${packageVersion()}`;
  return contact === undefined ? own : `${own} (+${contact})`;
}
