import { QUESTION } from "../../bytes/bytes.ts";
import { find, type Verdict } from "../../lookup/source.ts";
import { answerOf } from "../../lookup/map-lookup.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { Key } from "../../surt/lookup-key.ts";
import { surtBytes, surtRoom } from "../../surt/uri-to-surt.ts";
import type { DecidingKey } from "./decision.ts";
import { type Estimate, MEMENTOS_PER_ORIGINAL, type RoutedMap } from "./routed-map.ts";

const encoder = new TextEncoder();

/**
 * The maps of archives, by their number. The key of a URI is made once for all of them; nearly all maps
 * need no more than one look into their hosts.
 */
export class RoutedMaps {
  /** What the map that was asked last says: whether it is present, and whether a key says so. */
  isPresent = false;
  isStated = false;
  /** How far above the URI that key is. */
  distance = 0;
  /** Whether that key is the URI's own: the key of a page without its query speaks for any query. */
  isOwnKey = false;
  /** The SURT that was looked up last; valid until the next lookup. */
  surt: Uint8Array = new Uint8Array(0);
  readonly #maps: readonly (RoutedMap | undefined)[];
  #uri: Uint8Array = new Uint8Array(8192);
  #room: Uint8Array = new Uint8Array(surtRoom(8192));
  /** The key of the SURT with its query, and without; read for the first map that asks for it. */
  readonly #queryKey = new Key();
  readonly #key = new Key();
  #isQueryKeyRead = false;
  #isKeyRead = false;
  /** What the map says that was asked last. */
  readonly #verdict: Verdict = { present: false, bytes: new Uint8Array(0), start: 0, end: 0 };
  #hasQuery = false;
  /** A copy of the SURT for decisions that outlive the lookup. */
  #keptSurt: Uint8Array | undefined;

  /** @param maps by the number of their archives. */
  constructor(maps: readonly (RoutedMap | undefined)[] = []) {
    this.#maps = maps;
  }

  of(number: number): RoutedMap | undefined {
    return this.#maps[number];
  }

  /** Looks a URI up: from now on {@link ask} speaks of it. */
  lookUp(uri: string): void {
    if (this.#uri.length < 3 * uri.length) {
      this.#uri = new Uint8Array(6 * uri.length);
      this.#room = new Uint8Array(surtRoom(this.#uri.length));
    }
    const { written } = encoder.encodeInto(uri, this.#uri);
    const end = surtBytes(this.#uri, 0, written, this.#room, 0);
    this.surt = this.#room.subarray(0, end);
    this.#hasQuery = this.surt.includes(QUESTION);
    this.#keptSurt = undefined;
    this.#isQueryKeyRead = false;
    this.#isKeyRead = false;
  }

  /** Asks a map; returns whether it says present. */
  ask({ index }: RoutedMap): boolean {
    const source = index.ownRows;
    const key = this.#keyOf(source.readsQueries);
    const hit = find(source, key);
    this.isStated = hit >= 0;
    if (this.isStated) source.answer(key, hit, this.#verdict);
    this.isPresent = this.isStated && this.#verdict.present;
    this.distance = key.distance;
    this.isOwnKey = this.distance === 0 && (!this.#hasQuery || index.hasQueries);
    return this.isPresent;
  }

  #keyOf(queries: boolean): Key {
    const key = queries ? this.#queryKey : this.#key;
    const isRead = queries ? this.#isQueryKeyRead : this.#isKeyRead;
    if (isRead) return key;
    if (queries) this.#isQueryKeyRead = true;
    else this.#isKeyRead = true;
    return key.ofSurt(this.surt, 0, this.surt.length, queries);
  }

  /** Names the key of a map that was just asked, at any later time. */
  deciding({ index: { ownRows } }: RoutedMap): () => DecidingKey {
    const surt = (this.#keptSurt ??= this.surt.slice());
    return () => {
      const key = new Key().ofSurt(surt, 0, surt.length, ownRows.readsQueries);
      return answerOf(ownRows, key, find(ownRows, key));
    };
  }

  /** What the key of a map that was just asked, and says present, tells about the chance to be held. */
  estimate({ index }: RoutedMap, estimate: Estimate): void {
    if (index instanceof MemoryIndex) {
      const { bytes, start, end } = this.#verdict;
      estimate.take(bytes, start, end, this.distance);
      return;
    }
    // A packed map does not state how much it holds.
    estimate.takeCounts(this.distance === 0 ? MEMENTOS_PER_ORIGINAL : -1, -1, this.distance);
  }
}
