import { basename } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";

/** The default name of a map, from its file name. */
export function nameOfFile(path: string): string {
  const name = basename(path)
    .replace(/(?:\.(?:ukvs|txt|gz|zst|mementomap|packed))+$/i, "")
    .replaceAll(/[^\w.-]+/g, "-");
  return name === "" ? "map" : name;
}

/**
 * Checks the names of maps in addresses.
 *
 * @throws MM_USAGE
 */
export function checkNames(maps: readonly { readonly id: string }[]): void {
  for (const [index, { id }] of maps.entries()) {
    const wrong = !/^[\w.-]{1,100}$/.test(id)
      ? `${quote(id)} cannot be the name of a map; use letters, digits, "-", "_" and "."`
      : maps.findIndex((other) => other.id === id) !== index
        ? `two maps are named ${quote(id)}; give one another name: other=PATH`
        : undefined;
    if (wrong !== undefined) throw new MementoMapError("MM_USAGE", wrong);
  }
}
