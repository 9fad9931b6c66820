import { COMMA, copyRange, QUESTION, SLASH, STAR } from "../bytes/bytes.ts";
import type { KeyOptions } from "./key.ts";
import { Key } from "./lookup-key.ts";

/** The forms of the keys that cover a key. Those with a `*` in place of more than the key itself are wildcards. */
export const FORM = {
  /** The key with its query: `com,example,www2)/a/b?x=1`. */
  exact: 0,
  /** Without it: `com,example,www2)/a/b`. */
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

/** No key covers what is asked for. */
export const NONE = -1;
/** Something must be loaded before that can be said. */
export const MISSING = -2;

/** Is asked for keys. */
export interface Asker {
  /**
   * What there is of the key of this form and of the folder or label with this number: a number that
   * is not negative ends the walk, {@link NONE} goes on, {@link MISSING} stops it.
   */
  ask(key: Key, form: Form, index: number): number;
}

/**
 * Asks for the keys that cover a key, the most specific first, until one is there. The order and the
 * distances are normative: docs/format.md, "Lookup". They are written nowhere else.
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
 * With a query, the key as a whole comes first, at distance 0 too. In a map with queries,
 * `com,example,www2)/a/b?x=1` asks for itself, then at distance 1 for `com,example,www2)/a/b?*`, and not
 * for `com,example,www2)/a/b`, which is the page without a query. All that follow are one further than
 * above, and before each `X,*)/a/b?*` comes `X,*)/a/b?x=1`.
 *
 * Folders and labels that a mask of the key excludes are not asked for; bit 31 stands for all from
 * there on. `key.form`, `key.index` and `key.distance` tell which key was asked for last.
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
    // The spread key of a top-level domain is as far up as its wildcard.
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

/** Whether a mask of folders or labels has one. */
function hasBit(mask: number, index: number): boolean {
  return ((mask >>> (index < 31 ? index : 31)) & 1) !== 0;
}

/** The mask of one folder or label. */
export function bitOf(index: number): number {
  return 1 << (index < 31 ? index : 31);
}

/** Writes the key that was asked for last to `target` at `at`; returns where it ends. */
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

/** A key to look for in a map. */
export interface LookupKey {
  readonly key: string;
  /** How far up from the URI the key is: 0 for the URI itself, 1 for all below it, and so on. */
  readonly distance: number;
}

const decoder = new TextDecoder();
/** Bytes that a key that covers another may have more than that. */
const MORE_BYTES = 8;
let scratch = new Uint8Array(4096);

/** The key that was asked for last, in bytes that are valid until another is asked for. */
export function coveringKey(key: Key): Uint8Array {
  const room = key.length + MORE_BYTES;
  if (scratch.length < room) scratch = new Uint8Array(2 * room);
  return scratch.subarray(0, writeCoveringKey(key, scratch, 0));
}

/** The key that was asked for last. */
export function coveringKeyText(key: Key): string {
  return decoder.decode(coveringKey(key));
}

/**
 * The keys that can answer for a SURT, most specific first; the first that a map holds decides. See
 * {@link coveringKeys} for their order.
 *
 * `*` is never among the keys. A port belongs to its label, so that `com,example:8080)/` is not below `com,example,*`. Addresses
 * are treated as names. A SURT without a host, such as `dns:example.com`, has no key but itself.
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
