import { joinBytes, STAR } from "../../bytes/bytes.ts";
import { mostCapturesIn } from "../lookup/packed-lookup.ts";
import { NAME, type NameKind, OUTCOME, type PackedNames } from "../../packed/packed-map.ts";
import { LastKey } from "../../ukvs/record.ts";
import { KEY_KIND, rejectOrder } from "../compact/key-tree.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import { isOlderKey, OlderKeys } from "./older-keys.ts";
import { type NameShape, rowName } from "./row-name.ts";

const encoder = new TextEncoder();
/** What no key is called: a page, a query or a host that only a wildcard covers. */
const UNNAMED = encoder.encode("%2a");
const UNNAMED_HOST = encoder.encode("%2a)/%2a");

/**
 * Chooses the rows of a map that the parts of a packed map do not cover: what a delta has to hold.
 *
 * A host whose captures have become more than the parts state is chosen too, with one of its rows. The
 * rows of a host state all its captures together. Rows must come in byte order.
 *
 * Throws OlderKeys for keys of older maps, unless they are taken.
 */
export class NewRows implements RowSink {
  readonly #covers: readonly Cover[];
  readonly #queries: boolean;
  readonly #mayHaveOlderKeys: boolean;
  readonly #lastKey = new LastKey(1);
  #rows: Uint8Array[] = [];
  /** Of the host that is being read. */
  #host: Uint8Array = new Uint8Array(0);
  #captures = 0;
  /** Captures that its rows state so far, and the row that will state the rest. */
  #stated = 0;
  #pending: Uint8Array | undefined;
  #pendingCaptures = 0;
  /** Its first row that is covered. */
  #covered: Uint8Array | undefined;

  /** @param options `mayHaveOlderKeys`: whether keys of older maps are taken as they are. */
  constructor(
    parts: readonly PackedNames[],
    { mayHaveOlderKeys = false }: { readonly mayHaveOlderKeys?: boolean } = {},
  ) {
    this.#mayHaveOlderKeys = mayHaveOlderKeys;
    this.#covers = parts.map((names) => new Cover(names));
    this.#queries = parts[0].head.header.queries;
  }

  add(row: MapRow): void {
    const named = rowName(row, { queries: this.#queries, keepsVoids: false });
    if (named === undefined) return;
    const { key, shape, captures } = named;
    if (!this.#mayHaveOlderKeys && isOlderKey(key, 0, key.length, { queries: this.#queries })) {
      throw new OlderKeys();
    }
    const order = this.#lastKey.compareTo(key, 0, key.length);
    if (order > 0) rejectOrder(-order, key, this.#lastKey.text());
    if (order === 0) {
      // The same page at another time.
      this.#captures += captures;
      return;
    }
    this.#lastKey.remember(key, 0, key.length);
    if (!isHostOf(this.#host, key, shape.hostEnd)) {
      this.#endHost();
      this.#host = key.slice(0, shape.hostEnd);
    }
    this.#captures += captures;
    if (this.#covers.some((cover) => cover.covers(key, shape))) this.#covered ??= key.slice();
    else this.#choose(key.slice(), captures);
  }

  /** The rows that are complete. */
  take(): Uint8Array {
    return joinBytes(this.#rows.splice(0));
  }

  takeLast(): Uint8Array {
    this.#endHost();
    return this.take();
  }

  #choose(key: Uint8Array, captures: number): void {
    this.#write(this.#pendingCaptures);
    this.#pending = key;
    this.#pendingCaptures = captures;
  }

  #endHost(): void {
    const covered = this.#covered;
    if (this.#pending === undefined && covered !== undefined) {
      const most = Math.max(...this.#covers.map((cover) => cover.mostCaptures(covered)));
      if (most >= 0 && this.#captures > most) this.#pending = covered;
    }
    this.#write(Math.max(1, this.#captures - this.#stated));
    this.#captures = 0;
    this.#stated = 0;
    this.#covered = undefined;
  }

  #write(captures: number): void {
    if (this.#pending === undefined) return;
    this.#rows.push(this.#pending, encoder.encode(` ${captures}\n`));
    this.#stated += captures;
    this.#pending = undefined;
  }
}

function isHostOf(host: Uint8Array, key: Uint8Array, hostEnd: number): boolean {
  if (host.length !== hostEnd) return false;
  for (let i = 0; i < hostEnd; i++) if (host[i] !== key[i]) return false;
  return true;
}

/** What one part of a packed map certainly calls present. */
class Cover {
  readonly #names: PackedNames;
  readonly #queries: boolean;
  /** A void may hide what a wildcard covers. */
  readonly #hasVoids: boolean;

  constructor(names: PackedNames) {
    this.#names = names;
    this.#queries = names.head.header.queries;
    this.#hasVoids = names.hasVoids;
  }

  /** Most captures that the part states of the host of a key; -1 where it does not state any. */
  mostCaptures(key: Uint8Array): number {
    this.#names.find(key, 0, key.length);
    return mostCapturesIn(this.#names);
  }

  /** Whether all that a key covers is present. */
  covers(key: Uint8Array, { kind, pageEnd }: NameShape): boolean {
    const { length } = key;
    const isAnyQuery = this.#queries && length === pageEnd + 2 && key[pageEnd + 1] === STAR;
    const { spread, anyQuery, spreadAnyQuery } = NAME;
    if (kind === KEY_KIND.pathWildcard) {
      return this.#coversAll(joinBytes([key.subarray(0, -1), UNNAMED]), length - 2, []);
    }
    if (kind === KEY_KIND.hostWildcard) {
      return this.#coversAll(joinBytes([key.subarray(0, -1), UNNAMED_HOST]), length - 2, []);
    }
    if (kind === KEY_KIND.spread) {
      const star = key.indexOf(STAR);
      const page = joinBytes([key.subarray(0, star), UNNAMED, key.subarray(star + 1)]);
      const any = isAnyQuery ? joinBytes([page.subarray(0, -1), UNNAMED]) : page;
      const names = isAnyQuery ? [spreadAnyQuery] : [spread, spreadAnyQuery];
      return this.#coversAll(any, star - 1, names);
    }
    if (isAnyQuery) {
      const page = joinBytes([key.subarray(0, -1), UNNAMED]);
      return this.#coversAll(page, length, [anyQuery, spreadAnyQuery]);
    }
    return this.#names.find(key, 0, length) === OUTCOME.present;
  }

  /**
   * Whether a page that only wildcards cover is present by one of these names, or by what is above
   * them.
   *
   * @param end where the name must end, or before.
   */
  #coversAll(page: Uint8Array, end: number, names: readonly NameKind[]): boolean {
    if (this.#hasVoids || this.#names.find(page, 0, page.length) !== OUTCOME.present) return false;
    const { name, nameEnd } = this.#names;
    const isAbove = [...names, NAME.below, NAME.hostsBelow].includes(name);
    return isAbove && nameEnd <= end;
  }
}
