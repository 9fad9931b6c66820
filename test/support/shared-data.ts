import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of a real data file beside the checkout, or undefined where it is not at hand. */
export function sharedData(name: string): string | undefined {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url));
  return existsSync(path) ? path : undefined;
}
