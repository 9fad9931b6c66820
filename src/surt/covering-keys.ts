import { COMMA, copyRange, QUESTION, SLASH, STAR } from "../bytes/bytes.ts";
import type { KeyOptions } from "./key.ts";
import { Key } from "./lookup-key.ts";

/** The forms of keys that cover a key. */
export const FORM = {
  /** The key with its query: `com,example,www2)/a/b?x=1`. */
  exact: 0,
  /** Without the query: `com,example,www2)/a/b`. */
  page: 1,
  /** `com,example,www2)/a/b?*`; only in maps with queries. */
  anyQuery: 2,
  /** `com,example,www2)/a/*`, of a folder. */
  below: 3,
  /** `com,example,*)/a/b`, of a label; with its query in maps with queries. */
  spread: 4,
  /** `com,example,*)/a/b?*`; only in maps with queries. */
  spreadAnyQuery: 5,
  /** `com,example,*`, of a label. */
  hostsBelow: 6,
} as const;
export type Form = (typeof FORM)[keyof typeof FORM];

/** No key covers the queried key. */
export const NONE = -1;
/** Data must be loaded before the lookup can continue. */
export const MISSING = -2;

/** Looks up keys in a map. */
export interface Asker {
  /**
   * Looks up the key of this form for the folder or label with this number. A number ≥ 0 is a match and ends the
   * walk,
   * {@link NONE} continues it, {@link MISSING} aborts it.
   */
  ask(key: Key, form: Form, index: number): number;
}

/**
 * Looks up the keys that cover a key, most specific first, until one is found. The order and distances are normative:
 * docs/format.md, "Lookup". This is their only implementation.
 *
 * For `com,example,www2)/a/b`:
 *
 * | key | distance |
 * |---|---|
 * | `com,example,www2)/a/b` | 0 |
 * | `com,example,www2)/a/b/*` | 1 |
 * | `com,example,www2)/a/*` | 2 |
 * | `com,example,www2)/*` | 3 |
 * | `com,example,www2,*)/a/b` | 4 |
 * | `com,example,www2,*` | 5 |
 * | `com,example,*)/a/b` | 6 |
 * | `com,example,*` | 7 |
 * | `com,*)/a/b`, then `com,*` | 8 |
 *
 * With a query, the complete key comes first, also at distance 0. In a map with queries,
 * `com,example,www2)/a/b?x=1` is
 * followed by `com,example,www2)/a/b?*` at distance 1, and not by `com,example,www2)/a/b`, which is the page
 * without a
 * query. All further distances are one higher than above, and each `X,*)/a/b?*` is preceded by `X,*)/a/b?x=1`.
 *
 * Folders and labels excluded by a mask of the key are skipped; bit 31 represents all from 31 on. `key.form`,
 * `key.index`
 * and `key.distance` identify the last key queried.
 */
export function coveringKeys(key: Key, queries: boolean, asker: Asker): number {
  key.readPath();
  key.queries = queries;
  key.distance = 0;
  let found = NONE;
  if (queries || key.pageEnd < key.length) found = askFor(key, FORM.exact, 0, asker);
  if (found !== NONE) return found;
  if (queries) key.distance = 1;
  found = askFor(key, queries ? FORM.anyQuery : FORM.page, 0, asker);
  if (found !== NONE || key.hostEnd < 0) return found;

  const { depth } = key;
  const nearest = key.distance + 1;
  for (let folder = depth; folder >= 0 && key.below !== 0; folder--) {
    if (!hasBit(key.below, folder)) continue;
    key.distance = nearest + depth - folder;
    found = askFor(key, FORM.below, folder, asker);
    if (found !== NONE) return found;
  }
  if ((key.spreads | key.hostsBelow) === 0) return NONE;
  key.distance = nearest + depth;
  for (let label = key.readLabels() - 1; label >= 0; label--) {
    key.distance++;
    if (hasBit(key.spreads, label)) {
      found = askFor(key, FORM.spread, label, asker);
      if (found === NONE && queries) found = askFor(key, FORM.spreadAnyQuery, label, asker);
      if (found !== NONE) return found;
    }
    // The spread key of a top-level domain has the same distance as its wildcard.
    if (label > 0) key.distance++;
    if (!hasBit(key.hostsBelow, label)) continue;
    found = askFor(key, FORM.hostsBelow, label, asker);
    if (found !== NONE) return found;
  }
  return NONE;
}

function askFor(key: Key, form: Form, index: number, asker: Asker): number {
  key.form = form;
  key.index = index;
  return asker.ask(key, form, index);
}

/** Whether a mask includes a folder or label. */
function hasBit(mask: number, index: number): boolean {
  return ((mask >>> (index < 31 ? index : 31)) & 1) !== 0;
}

/** The mask of one folder or label. */
export function bitOf(index: number): number {
  return 1 << (index < 31 ? index : 31);
}

/** Writes the last key queried to `target` at `at`; returns its end. */
export function writeCoveringKey(key: Key, target: Uint8Array, at: number): number {
  const { bytes, hostEnd, pageEnd, length, form, index, queries } = key;
  if (form === FORM.exact) return copyRange(bytes, 0, length, target, at);
  if (form === FORM.page) return copyRange(bytes, 0, pageEnd, target, at);
  if (form === FORM.anyQuery) {
    return withStar(QUESTION, target, copyRange(bytes, 0, pageEnd, target, at));
  }
  if (form === FORM.below) {
    return withStar(SLASH, target, copyRange(bytes, 0, key.folderEnds[index], target, at));
  }
  const to = withStar(COMMA, target, copyRange(bytes, 0, key.labelEnds[index], target, at));
  if (form === FORM.hostsBelow) return to;
  const end = form === FORM.spread && queries ? length : pageEnd;
  const keyEnd = copyRange(bytes, hostEnd, end, target, to);
  return form === FORM.spreadAnyQuery ? withStar(QUESTION, target, keyEnd) : keyEnd;
}

function withStar(separator: number, target: Uint8Array, at: number): number {
  target[at] = separator;
  target[at + 1] = STAR;
  return at + 2;
}

/** A key to look up in a map. */
export interface LookupKey {
  readonly key: string;
  /** How much broader the key is than the URI: 0 for the URI itself, 1 for everything below it, and so on. */
  readonly distance: number;
}

const decoder = new TextDecoder();
/** Extra bytes that a covering key may need. */
const MORE_BYTES = 8;
let scratch = new Uint8Array(4096);

/** The last key queried, in bytes valid until the next call. */
export function coveringKey(key: Key): Uint8Array {
  const room = key.length + MORE_BYTES;
  if (scratch.length < room) scratch = new Uint8Array(2 * room);
  return scratch.subarray(0, writeCoveringKey(key, scratch, 0));
}

/** The last key queried, as text. */
export function coveringKeyText(key: Key): string {
  return decoder.decode(coveringKey(key));
}

/**
 * The keys that cover a SURT, most specific first; the first one in a map is the match. See {@link coveringKeys} for
 * their order.
 *
 * `*` is never among the keys. A port belongs to its label, so `com,example:8080)/` is not below `com,example,*`. IP
 * addresses are treated as names. A SURT without a host, such as `dns:example.com`, is its only key.
 *
 * @example
 * ```ts
 * import { lookupKeys } from "mementomap";
 *
 * for (const { key, distance } of lookupKeys("com,example)/")) console.log(distance, key);
 * ```
 * ```
 * 0 com,example)/
 * 1 com,example)/*
 * 2 com,example,*)/
 * 3 com,example,*
 * 4 com,*)/
 * 4 com,*
 * ```
 */
export function lookupKeys(surt: string, { queries = false }: KeyOptions = {}): LookupKey[] {
  const keys: LookupKey[] = [];
  coveringKeys(new Key().ofSurtText(surt, true), queries, {
    ask(key) {
      keys.push({ key: coveringKeyText(key), distance: key.distance });
      return NONE;
    },
  });
  return keys;
}
