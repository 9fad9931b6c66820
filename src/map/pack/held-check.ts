import { joinBytes, STAR } from "../../bytes/bytes.ts";
import { OUTCOME, type PackedNames } from "../../packed/packed-map.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import { KEY_KIND, keyShape } from "../compact/key-tree.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";

/** Asks a packed map for all that a map holds. */
export class HeldCheck implements RowSink {
  /** Keys that a void may hide. */
  readonly hidden: Uint8Array[] = [];
  /** Keys that are not found. */
  lost = 0;
  readonly #names: PackedNames;
  readonly #asksVoids: boolean;

  constructor(names: PackedNames) {
    this.#names = names;
    this.#asksVoids = names.head.header.voids > 0;
  }

  add({ bytes, start, keyEnd, frequencyStart, frequencyEnd }: MapRow): void {
    if (frequencyIsZero(bytes, frequencyStart, frequencyEnd)) return;
    if (keyEnd - start === 1 && bytes[start] === STAR) return;
    const asked = pageWithin(bytes.subarray(start, keyEnd));
    const { length } = asked;
    if (this.#asksVoids && this.#names.hitsVoid(asked, 0, length)) {
      this.hidden.push(bytes.slice(start, keyEnd));
    }
    if (this.#names.find(asked, 0, length) !== OUTCOME.present) this.lost++;
  }
}

/** A page that a key covers: for a wildcard, one of a name that no other key has. */
function pageWithin(key: Uint8Array): Uint8Array {
  const { kind, hostEnd } = keyShape(key, key.length);
  if (kind === KEY_KIND.hostWildcard) return joinBytes([key.subarray(0, -1), UNNAMED_HOST]);
  if (kind === KEY_KIND.spread) {
    return joinBytes([key.subarray(0, hostEnd - 1), UNNAMED, key.subarray(hostEnd)]);
  }
  return key;
}

const UNNAMED: Uint8Array = new TextEncoder().encode("%2a");
const UNNAMED_HOST: Uint8Array = new TextEncoder().encode("%2a)/%2a");
