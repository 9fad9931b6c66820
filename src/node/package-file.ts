import { existsSync } from "node:fs";

/**
 * A file of this package by its path from the package's folder, whether the code that asks for it
 * runs from the sources, the build, or the bundled command line.
 */
export function packageFile(path: string): URL {
  root ??= findRoot();
  return new URL(path, root);
}

let root: URL | undefined;

function findRoot(): URL {
  let folder = new URL(".", import.meta.url);
  while (!existsSync(new URL("package.json", folder))) folder = new URL("..", folder);
  return folder;
}
