import { readFileSync } from "node:fs";
import { packageFile } from "./package-file.ts";

/** The version of this package, from its own package.json. */
export function packageVersion(): string {
  const file = packageFile("package.json");
  if (file === undefined) return "bundled";
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version; // our own file
}
