import { type Asker, coveringKeys, MISSING } from "../surt/covering-keys.ts";
import type { Key } from "../surt/lookup-key.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { DatetimeRange } from "../ukvs/record.ts";
import { checkSignal } from "../interruption.ts";

/** What the row, or the rows, of a key say. */
export interface Verdict {
  present: boolean;
  /** The frequency is `bytes[start, end)`. */
  bytes: Uint8Array;
  start: number;
  end: number;
}

/**
 * Pieces of a source that one lookup waited for, by a number that the source gives them. It finds them
 * again, whatever other lookups read meanwhile.
 */
export type Held = Map<number, Segment>;

/** A piece of a sorted map: whole lines, and where those begin that have a row. */
export interface Segment {
  readonly lines: Uint8Array;
  readonly starts: readonly number[];
}

/**
 * Where the rows of a map are: in memory, in sorted bytes that are read where they are asked, in a
 * packed map. It is asked for one key after the other by {@link find}; which keys cover another, and in
 * which order they are asked for, it does not know (see surt/covering-keys.ts).
 *
 *     find(source, key.ofUri(...))  ->  open(key), then ask(key, form, index) for each key that covers it
 *
 * `ask` gets the key that is looked up, and which key it is to look for: `key.bytes[0, key.folderEnds[index])`
 * and `/*` for the form `below`, and so on; `coveringKey` has its bytes.
 */
export interface KeySource extends Asker {
  readonly headers: UkvsHeaders;
  /** Whether keys are asked for with their queries: in maps with queries, or where some row has one. */
  readonly readsQueries: boolean;
  /**
   * Prepares for the keys that cover this one. May set the masks `key.below`, `key.spreads` and
   * `key.hostsBelow` to the folders and labels that are worth asking for, and use `key.host` and
   * `key.hostHash` as it likes. Of the path nothing is known as yet: `key.readPath()` reads it.
   *
   * @param period where it is given, `ask` finds only keys whose rows decide about it.
   * @param held what `load` gave this lookup.
   * @returns NONE where no key of the source can cover this one, MISSING where something must be loaded
   *   to say so, else any other number.
   */
  open(key: Key, period?: DatetimeRange, held?: Held): number;
  /** What the rows say that `ask` found last, with the number that it returned. */
  answer(key: Key, hit: number, into: Verdict): void;
  /** The rows of the key that was asked for last, as they are written; of maps of text. */
  lastRows?(): string[];
  /**
   * Opens the first `count` keys of a group, as `open` does, with the results in `opened`, and fetches what
   * `ask` will need of all of them at the same time; for batches.
   */
  openAll?(keys: readonly Key[], count: number, opened: Int32Array, period?: DatetimeRange): void;
  /**
   * Loads what `open` or `ask` lacked when they returned MISSING a moment ago. What it puts into `held`
   * is there for `open`. Sources that never return MISSING have none.
   */
  load?(held: Held, signal?: AbortSignal): Promise<void>;
}

/** Finds the key that decides: the number that `answer` takes, NONE, or MISSING. */
export function find(source: KeySource, key: Key, period?: DatetimeRange, held?: Held): number {
  const opened = source.open(key, period, held);
  return opened < 0 ? opened : coveringKeys(key, source.headers.fields.queries === true, source);
}

/**
 * As {@link find}, and loads what is missing. `settle` is called with what was found before anything
 * else can be asked of the source; other lookups may be under way.
 */
export async function findLoading<T>(
  source: KeySource,
  asked: Key,
  {
    period,
    signal,
  }: { readonly period?: DatetimeRange | undefined; readonly signal?: AbortSignal | undefined },
  settle: (key: Key, hit: number) => T,
): Promise<T> {
  checkSignal(signal);
  let hit = find(source, asked, period);
  if (hit !== MISSING) return settle(asked, hit);
  // The key is used for other lookups meanwhile.
  const loading = new Map<number, Segment>();
  let loaded = source.load?.(loading, signal);
  const key = asked.copy();
  for (;;) {
    await loaded;
    checkSignal(signal);
    hit = find(source, key, period, loading);
    if (hit !== MISSING) return settle(key, hit);
    loaded = source.load?.(loading, signal);
  }
}
