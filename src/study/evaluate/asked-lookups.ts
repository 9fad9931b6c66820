import { OriginalKey } from "../analyze/original-key.ts";
import { surtBytes } from "../../surt/surt.ts";
import { isSurtText } from "../../map/lookup/lookup-list.ts";

/** Percent-encoding makes three bytes of one. */
const SURT_GROWTH = 3;

/** Distinct things that were asked for, and how often. */
export interface AskedSet {
  readonly texts: readonly string[];
  /** 1 for each, unless repeats count. */
  readonly counts: readonly number[];
}

/**
 * Lookups, by the keys that maps are asked for, which have no query, and by the URIs themselves
 * (URI-Rs), which are distinct by their SURT with its query.
 *
 * Holds all of them.
 */
export class AskedLookups {
  readonly keys: AskedSet = { texts: [], counts: [] };
  readonly uris: AskedSet = { texts: [], counts: [] };
  /** For each of the URIs, which of the keys is its own. */
  readonly keyOfUri: readonly number[] = [];
  readonly #countsRepeats: boolean;
  readonly #keyPlaces = new Map<string, number>();
  readonly #uriPlaces = new Map<string, number>();
  readonly #original = new OriginalKey();
  readonly #encoder = new TextEncoder();
  #surt = new Uint8Array(1 << 12);

  /** @param countsRepeats whether what is asked twice counts twice */
  constructor(countsRepeats: boolean) {
    this.#countsRepeats = countsRepeats;
  }

  /** Takes a URI, or a SURT. */
  add(text: string): void {
    const bytes = this.#encoder.encode(text);
    let surt = bytes;
    let end = bytes.length;
    if (!isSurtText(text)) {
      const room = bytes.length * SURT_GROWTH + 64;
      if (room > this.#surt.length) this.#surt = new Uint8Array(room * 2);
      surt = this.#surt;
      end = surtBytes(bytes, 0, bytes.length, surt, 0);
    }
    const original = this.#original;
    original.setOriginal(surt, 0, end, 0);
    const key = latin1(original.bytes, original.keyLength);
    const keyPlace = this.#count(this.keys, this.#keyPlaces, key);
    const uri = latin1(original.bytes, original.sharedByMonths - 1);
    const uriPlace = this.#count(this.uris, this.#uriPlaces, uri);
    (this.keyOfUri as number[])[uriPlace] = keyPlace; // ours to write
  }

  /** The place of an original among the URIs, if it was asked for; see original-key.ts. */
  placeOfOriginal(bytes: Uint8Array, length: number): number | undefined {
    return this.#uriPlaces.get(latin1(bytes, length));
  }

  #count(set: AskedSet, places: Map<string, number>, text: string): number {
    const { texts, counts } = set as { texts: string[]; counts: number[] }; // ours to write
    const known = places.get(text);
    if (known !== undefined) {
      if (this.#countsRepeats) counts[known] += 1;
      return known;
    }
    places.set(text, texts.length);
    counts.push(1);
    return texts.push(text) - 1;
  }
}

function latin1(bytes: Uint8Array, length: number): string {
  return LATIN1.decode(bytes.subarray(0, length));
}

const LATIN1 = new TextDecoder("latin1");
