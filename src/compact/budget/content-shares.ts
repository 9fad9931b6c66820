import { LAYER } from "../node-stack.ts";
import { FIELD } from "./node-table.ts";

/** How many observations the keys of a sub-tree are worth. */
export function evidence(keys: number, heapsExponent: number): number {
  return keys ** heapsExponent;
}

/** The chance, by content alone, that a lookup which comes to a node asks for an unknown child. */
export function chanceOfNew(page: Float64Array, at: number, heapsExponent: number): number {
  const keys = page[at + FIELD.keys];
  if (page[at + FIELD.layer] !== LAYER.host) {
    return 1 - heapsExponent + (heapsExponent * page[at + FIELD.children]) / (keys + 1);
  }
  const known = page[at + FIELD.subdomains];
  const seen = page[at + FIELD.isSuffix] === 1 ? 0 : evidence(keys, heapsExponent);
  return (known + 0.5) / (known + seen + 1);
}
