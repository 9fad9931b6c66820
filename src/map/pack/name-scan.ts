import { COMMA, isPlainText, STAR } from "../../bytes/bytes.ts";
import { NameHash } from "../../packed/name-hash.ts";
import { FLAG, MAX_DEPTH } from "../../packed/packed-file.ts";
import { LastKey } from "../../ukvs/record.ts";
import { KEY_KIND, rejectOrder } from "../compact/key-tree.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import { type HostColumns, HostProfiles, OPAQUE_HOST } from "./host-profiles.ts";
import { hasSlashBeforeQuery, isOlderHost, isOlderOpaque } from "./older-keys.ts";
import { LIST, type ListKind, type NameLists } from "./name-log.ts";
import { type NameShape, type RowKinds, type RowName, rowName } from "./row-name.ts";

/**
 * Collects what is packed of the rows of a map: the profiles of its hosts, and the names of its rows. Rows must
 * come in byte order, so that those of a host follow each other. kernel/pack.ts does the same.
 */
export class NameScan implements RowSink {
  readonly profiles: HostProfiles = new HostProfiles();
  readonly #kinds: RowKinds;
  readonly #lists: NameLists | undefined;
  readonly #hash = new NameHash();
  readonly #lastKey = new LastKey(1);
  /** The name of the last host, and the state of the hash behind it. */
  #last = new Uint8Array(256);
  #lastLength = -1;
  #stateA = 0;
  #stateB = 0;

  /** @param lists where names go, if they are wanted. */
  constructor(kinds: RowKinds, lists: NameLists | undefined) {
    this.#kinds = kinds;
    this.#lists = lists;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd } = row;
    if (keyEnd - start === 1 && bytes[start] === STAR) return;
    const order = this.#lastKey.compareTo(bytes, start, keyEnd);
    if (order >= 0) rejectOrder(-order, bytes.subarray(start, keyEnd), this.#lastKey.text());
    this.#lastKey.remember(bytes, start, keyEnd);
    this.profiles.hasOlderKeys ||= !isPlainText(bytes, start, keyEnd);
    const name = rowName(row, this.#kinds);
    if (name !== undefined) this.#addName(name);
  }

  #addName({ key, shape, captures }: RowName): void {
    const { kind, hostEnd } = shape;
    const { profiles } = this;
    const isVoid = captures === 0;
    profiles.hasVoids ||= isVoid;
    profiles.hasWildcards ||= !isVoid && isWildcard(key, shape);
    this.#goToHost(key, hostEnd);
    const isOpaque = kind === KEY_KIND.opaque;
    profiles.hasOlderKeys ||= isOpaque
      ? isOlderOpaque(key, this.#kinds.queries)
      : shape.pageEnd < key.length && hasSlashBeforeQuery(key, hostEnd, shape.pageEnd);
    const hosts = isOpaque ? profiles.opaque : profiles;
    const host = hosts.count - 1;
    hosts.captures[host] += captures;
    let list: ListKind;
    if (kind === KEY_KIND.hostWildcard) {
      profiles.hostWildcards |= labelBit(key, key.length - 2);
      hosts.flags[host] |= isVoid ? FLAG.none : FLAG.all;
      list = isVoid ? LIST.wholeVoids : LIST.wholes;
    } else {
      if (kind === KEY_KIND.spread) profiles.hostSpreads |= labelBit(key, hostEnd - 3);
      list = this.#addRow(hosts, host, shape, isVoid, key);
    }
    if (this.#lists === undefined) return;
    const end = this.#kinds.queries ? key.length : shape.pageEnd;
    const hash = this.#hash.resume(this.#stateA, this.#stateB).extend(key, hostEnd, end).finish();
    this.#lists.add(list, hash.low, hash.high, isOpaque ? OPAQUE_HOST : host);
  }

  #addRow(
    hosts: HostColumns,
    host: number,
    { kind, depth, pageEnd }: NameShape,
    isVoid: boolean,
    key: Uint8Array,
  ): ListKind {
    const bit = 1 << Math.min(depth, MAX_DEPTH);
    const isPathWildcard = kind === KEY_KIND.pathWildcard;
    if (isVoid) {
      hosts.masks[host] |= bit << (isPathWildcard ? 24 : 16);
      this.profiles.voidCount++;
      return LIST.voids;
    }
    if (!isPathWildcard) this.profiles.depths[Math.min(depth, MAX_DEPTH)]++;
    const hasQuery = this.#kinds.queries && pageEnd < key.length;
    const isAny = hasQuery && isAnyQuery(key, pageEnd);
    if (hasQuery) {
      hosts.flags[host] |= isAny ? FLAG.anyQuery : FLAG.query;
    } else if (depth === 0 && kind !== KEY_KIND.spread) {
      hosts.flags[host] |= isPathWildcard ? FLAG.all : FLAG.home;
      return isPathWildcard ? LIST.wholes : LIST.homes;
    } else {
      hosts.masks[host] |= bit << (isPathWildcard ? 8 : 0);
    }
    hosts.rows[host]++;
    this.profiles.rowCount++;
    return isPathWildcard || isAny ? LIST.wide : LIST.rows;
  }

  /** Goes to the host `key[0, length)`: a new one if it is not that of the row before. */
  #goToHost(key: Uint8Array, length: number): void {
    if (length === this.#lastLength) {
      let at = 0;
      while (at < length && this.#last[at] === key[at]) at++;
      if (at === length) return;
    }
    if (length > this.#last.length) this.#last = new Uint8Array(2 * length);
    for (let i = 0; i < length; i++) this.#last[i] = key[i];
    this.#lastLength = length;
    const { a, b } = this.#hash.reset().extend(key, 0, length);
    this.#stateA = a;
    this.#stateB = b;
    const { low, high } = this.#hash.finish();
    const { opaque } = this.profiles;
    if (length > 0) {
      this.profiles.push(low, high);
      this.profiles.hasOlderKeys ||= isOlderHost(key, length);
    } else if (opaque.count === 0) opaque.push(low, high);
  }
}

/** Whether a key covers more than one URI. */
function isWildcard(key: Uint8Array, { kind, pageEnd }: NameShape): boolean {
  const { pathWildcard, hostWildcard, spread } = KEY_KIND;
  return (
    kind === pathWildcard || kind === hostWildcard || kind === spread || isAnyQuery(key, pageEnd)
  );
}

/** Whether a key with a query is that of a page with any query, `/a?*`. */
function isAnyQuery(key: Uint8Array, pageEnd: number): boolean {
  return key.length - pageEnd === 2 && key[pageEnd + 1] === STAR;
}

/** The bit for a number of labels. */
function labelBit(key: Uint8Array, end: number): number {
  let labels = 1;
  for (let at = 0; at < end; at++) if (key[at] === COMMA) labels++;
  return 1 << Math.min(labels, 31);
}
