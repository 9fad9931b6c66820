import { type Asker, coveringKeys, MISSING } from "../surt/covering-keys.ts";
import type { Key } from "../surt/lookup-key.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { DatetimeRange } from "../ukvs/record.ts";
import { checkSignal } from "../interruption.ts";

/** The result of the rows of a key. */
export interface Verdict {
  present: boolean;
  /** The frequency is `bytes[start, end)`. */
  bytes: Uint8Array;
  start: number;
  end: number;
}

/**
 * Segments loaded for one lookup, by numbers assigned by the source. They stay available to it even if
 * other lookups evict them from the cache meanwhile.
 */
export type Held = Map<number, Segment>;

/** A segment of a sorted map: whole lines, and the offsets of those that are rows. */
export interface Segment {
  readonly lines: Uint8Array;
  readonly starts: readonly number[];
}

/**
 * Access to the rows of a map: in memory, in a sorted file read on demand, or in a packed map.
 * {@link find} queries it for one key at a time. The set and order of covering keys are not its concern
 * (see surt/covering-keys.ts).
 *
 *     find(source, key.ofUri(...))  ->  open(key), then ask(key, form, index) for each covering key
 *
 * `ask` receives the key that is looked up, and the form and index of the covering key to find:
 * `key.bytes[0, key.folderEnds[index])` and `/*` for the form `below`, and so on; `coveringKey` returns
 * its bytes.
 */
export interface KeySource extends Asker {
  readonly headers: UkvsHeaders;
  /** Whether keys are looked up with their queries: the map declares queries, or some row has one. */
  readonly readsQueries: boolean;
  /**
   * Prepares a lookup of this key. May narrow the masks `key.below`, `key.spreads` and `key.hostsBelow` to
   * the folders and labels that can have rows, and use `key.host` and `key.hostHash` freely. The path is
   * not parsed yet: `key.readPath()` does that.
   *
   * @param period if set, `ask` finds only keys whose rows decide for it.
   * @param held the segments that `load` fetched for this lookup.
   * @returns NONE if no key of the source can cover this one, MISSING if that needs data that is not
   *   loaded, else any other number.
   */
  open(key: Key, period?: DatetimeRange, held?: Held): number;
  /** Writes the result of the last `ask`; `hit` is the number that it returned. */
  answer(key: Key, hit: number, into: Verdict): void;
  /** The rows of the key queried last, as text; text maps only. */
  lastRows?(): string[];
  /**
   * Opens the first `count` keys of a group, as `open` does, with the results in `opened`, and prefetches
   * the memory that `ask` will need for all of them at once; for batches.
   */
  openAll?(keys: readonly Key[], count: number, opened: Int32Array, period?: DatetimeRange): void;
  /**
   * Loads the data that `open` or `ask` lacked when they last returned MISSING, into `held`, which is then
   * passed to `open`. Absent from sources that never return MISSING.
   */
  load?(held: Held, signal?: AbortSignal): Promise<void>;
}

/** Finds the deciding key: the number to pass to `answer`, NONE, or MISSING. */
export function find(source: KeySource, key: Key, period?: DatetimeRange, held?: Held): number {
  const opened = source.open(key, period, held);
  return opened < 0 ? opened : coveringKeys(key, source.headers.fields.queries === true, source);
}

/**
 * As {@link find}, but loads missing data. `settle` is called with the result synchronously, before the
 * source is used for another lookup; lookups may be in flight concurrently.
 */
export async function findLoading<T>(
  source: KeySource,
  original: Key,
  {
    period,
    signal,
  }: { readonly period?: DatetimeRange | undefined; readonly signal?: AbortSignal | undefined },
  settle: (key: Key, hit: number) => T,
): Promise<T> {
  checkSignal(signal);
  let hit = find(source, original, period);
  if (hit !== MISSING) return settle(original, hit);
  // The caller reuses the key for other lookups meanwhile.
  const loading = new Map<number, Segment>();
  let loaded = source.load?.(loading, signal);
  const key = original.copy();
  for (;;) {
    await loaded;
    checkSignal(signal);
    hit = find(source, key, period, loading);
    if (hit !== MISSING) return settle(key, hit);
    loaded = source.load?.(loading, signal);
  }
}
