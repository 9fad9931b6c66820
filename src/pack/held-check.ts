import { copyRange, joinBytes, SLASH, STAR } from "../bytes/bytes.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import { PackedLookup } from "../lookup/packed-lookup.ts";
import { find } from "../lookup/source.ts";
import { FORM } from "../surt/covering-keys.ts";
import { Key } from "../surt/lookup-key.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import { KEY_KIND, keyShape } from "../ukvs/key-tree.ts";

/** Looks up all rows of a map in a packed map. */
export class HeldCheck implements RowSink {
  /** Keys that were not found. */
  lost = 0;
  readonly #map: PackedLookup;
  readonly #hasVoids: boolean;
  readonly #key = new Key();
  /** The last folder present as a whole: `folder[0, folderEnd)`. */
  #folder: Uint8Array = new Uint8Array(0);
  #folderEnd = 0;

  /** @param file a packed map; all of it is checked. */
  constructor(file: Uint8Array, source: string) {
    this.#map = PackedLookup.of(file, source);
    this.#hasVoids = this.#map.header.voids > 0;
  }

  add({ bytes, start, keyEnd, frequencyStart, frequencyEnd }: MapRow): void {
    if (this.#isBelowFolder(bytes, start)) return;
    if (frequencyIsZero(bytes, frequencyStart, frequencyEnd)) return;
    if (keyEnd - start === 1 && bytes[start] === STAR) return;
    this.#lookUp(bytes, start, keyEnd);
  }

  /** Lookups try keys in this order, too, so they find the row by the same name. */
  #isBelowFolder(bytes: Uint8Array, start: number): boolean {
    const end = this.#folderEnd;
    if (end === 0 || bytes[start + end] !== SLASH) return false;
    const folder = this.#folder;
    for (let at = end - 1; at >= 0; at--) if (bytes[start + at] !== folder[at]) return false;
    return true;
  }

  #lookUp(bytes: Uint8Array, start: number, end: number): void {
    const isWildcard = bytes[end - 1] === STAR || bytes.subarray(start, end).includes(STAR);
    const asked = isWildcard ? pageWithin(bytes, start, end) : bytes;
    const from = isWildcard ? 0 : start;
    const to = isWildcard ? asked.length : end;
    const key = this.#key.ofSurt(asked, from, to, this.#map.readsQueries);
    const hit = find(this.#map, key);
    // A void may cover the page that was chosen to represent a wildcard.
    if (hit < 0 || (hit === 0 && !isWildcard)) this.lost++;
    this.#folderEnd = 0;
    if (hit <= 0 || key.form !== FORM.below || this.#hasVoids) return;
    this.#folderEnd = key.folderEnds[key.index];
    if (this.#folder.length < this.#folderEnd) this.#folder = new Uint8Array(2 * this.#folderEnd);
    copyRange(key.bytes, 0, this.#folderEnd, this.#folder, 0);
  }
}

/** A page covered by a wildcard, with a name that no other key has. */
function pageWithin(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const key = bytes.subarray(start, end);
  const { kind, hostEnd } = keyShape(key, key.length);
  if (kind === KEY_KIND.hostWildcard) return joinBytes([key.subarray(0, -1), UNNAMED_HOST]);
  if (kind === KEY_KIND.spread) {
    return joinBytes([key.subarray(0, hostEnd - 1), UNNAMED, key.subarray(hostEnd)]);
  }
  return key;
}

const UNNAMED: Uint8Array = new TextEncoder().encode("%2a");
const UNNAMED_HOST: Uint8Array = new TextEncoder().encode("%2a)/%2a");
