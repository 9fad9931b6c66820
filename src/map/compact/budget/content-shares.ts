import { LAYER } from "../node-stack.ts";
import { FIELD } from "./node-table.ts";

/** Sub-trees up to this size are looked up: most are small, and powers are slow. */
const KNOWN_POWERS = 1024;

/** What the content of an archive alone says of lookups, given its exponent of Heaps' law. */
export class ContentShares {
  readonly heapsExponent: number;
  readonly #powers: Float64Array;

  constructor(heapsExponent: number) {
    this.heapsExponent = heapsExponent;
    this.#powers = Float64Array.from({ length: KNOWN_POWERS }, (_, n) => n ** heapsExponent);
  }

  /** How many observations the keys of a sub-tree are worth. */
  evidence(keys: number): number {
    return keys < KNOWN_POWERS ? this.#powers[keys] : keys ** this.heapsExponent;
  }

  /** The chance that a lookup which comes to a node asks for an unknown child. */
  chanceOfNew(page: Float64Array, at: number): number {
    const keys = page[at + FIELD.keys];
    if (page[at + FIELD.layer] !== LAYER.host) {
      const { heapsExponent } = this;
      return 1 - heapsExponent + (heapsExponent * page[at + FIELD.children]) / (keys + 1);
    }
    const known = page[at + FIELD.subdomains];
    const seen = page[at + FIELD.isSuffix] === 1 ? 0 : this.evidence(keys);
    return (known + 0.5) / (known + seen + 1);
  }
}
