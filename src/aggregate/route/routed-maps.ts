import { surtRoom } from "../../map/lookup/answer-lines.ts";
import { Match, MemoryIndex } from "../../map/lookup/memory-index.ts";
import { PackedKey } from "../../map/lookup/packed-key.ts";
import type { PackedLookup } from "../../map/lookup/packed-lookup.ts";
import { QUESTION } from "../../bytes/bytes.ts";
import { OUTCOME } from "../../packed/packed-map.ts";
import { surtBytes } from "../../surt/uri-to-surt.ts";
import { CombinedIndex } from "./combined-index.ts";
import type { DecidingKey } from "./decision.ts";
import { type Estimate, MEMENTOS_PER_ORIGINAL, type RoutedMap } from "./routed-map.ts";

const encoder = new TextEncoder();

function hasQueries(index: RoutedMap["index"]): boolean {
  return index instanceof MemoryIndex
    ? index.headers.fields.queries === true
    : index.header.queries;
}

/**
 * The maps of archives, by their number: maps in text are asked together, each packed one by itself.
 *
 * Holds what `CombinedIndex` holds for maps in text, and of a packed one no more than its bytes. It
 * never changes.
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
  readonly #index: CombinedIndex;
  readonly #match = new Match();
  #uri: Uint8Array = new Uint8Array(8192);
  #room: Uint8Array = new Uint8Array(surtRoom(8192));
  /** The key of the SURT in packed maps with queries, and in those without; read for the first of them. */
  readonly #queryKey = new PackedKey();
  readonly #key = new PackedKey();
  #isQueryKeyRead = false;
  #isKeyRead = false;
  #hasQuery = false;
  /** A copy of the SURT for decisions that outlive the lookup. */
  #keptSurt: Uint8Array | undefined;

  private constructor(maps: readonly (RoutedMap | undefined)[], index: CombinedIndex) {
    this.#maps = maps;
    this.#index = index;
  }

  /** No maps at all. */
  static none(): RoutedMaps {
    return new RoutedMaps([], CombinedIndex.build([]));
  }

  /** `pause` is awaited every few milliseconds of work. */
  static async build(
    maps: readonly (RoutedMap | undefined)[],
    pause: () => Promise<void>,
  ): Promise<RoutedMaps> {
    const indexes = maps.map((map) => (map?.index instanceof MemoryIndex ? map.index : undefined));
    return new RoutedMaps(maps, await CombinedIndex.buildInSlices(indexes, pause));
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
    this.#index.lookupKeyBytes(this.#room, 0, end);
  }

  /** Asks a map; returns whether it says present. */
  ask(number: number, { index }: RoutedMap): boolean {
    if (index instanceof MemoryIndex) {
      const row = this.#index.rows[number];
      this.isStated = row >= 0;
      this.isPresent = row >= 0 && index.matchRow(row, this.#match);
      this.distance = this.#index.distances[number];
    } else {
      const outcome = index.findKey(this.#packedKey(index));
      this.isPresent = outcome === OUTCOME.present;
      this.isStated = outcome !== OUTCOME.none;
      this.distance = index.distance;
    }
    this.isOwnKey = this.distance === 0 && (!this.#hasQuery || hasQueries(index));
    return this.isPresent;
  }

  #packedKey({ header }: PackedLookup): PackedKey {
    const key = header.queries ? this.#queryKey : this.#key;
    const isRead = header.queries ? this.#isQueryKeyRead : this.#isKeyRead;
    if (isRead) return key;
    if (header.queries) this.#isQueryKeyRead = true;
    else this.#isKeyRead = true;
    return key.ofSurt(this.surt, 0, this.surt.length, header);
  }

  /** Names the key of a map that was just asked, at any later time. */
  deciding(number: number, { index }: RoutedMap): () => DecidingKey {
    if (index instanceof MemoryIndex) {
      const row = this.#index.rows[number];
      return () => index.answerRow(row);
    }
    const surt = (this.#keptSurt ??= this.surt.slice());
    return () => index.answerSurt(surt);
  }

  /** What the key of a map that was just asked, and says present, tells about the chance to be held. */
  estimate({ index }: RoutedMap, estimate: Estimate): void {
    if (index instanceof MemoryIndex) {
      const { frequencyBytes, frequencyStart, frequencyEnd } = this.#match;
      estimate.take(frequencyBytes, frequencyStart, frequencyEnd, this.distance);
    } else {
      estimate.takeCounts(this.#packedMementos(index), -1, this.distance);
    }
  }

  /** A packed map counts the captures of hosts, not those of pages. */
  #packedMementos(index: PackedLookup): number {
    return this.distance === 0 ? MEMENTOS_PER_ORIGINAL : index.mostCaptures;
  }
}
