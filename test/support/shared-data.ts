import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of a real data file next to the checkout, or undefined if it is missing. */
export function sharedData(name: string): string | undefined {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url));
  return existsSync(path) ? path : undefined;
}
