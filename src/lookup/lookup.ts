import type { UkvsHeaders } from "../ukvs/header.ts";

/** What a lookup may be told besides the URI. */
export interface LookupOptions {
  /** 4 to 14 digits of YYYYMMDDhhmmss: only rows that cover this time may make the URI present. */
  readonly at?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a map says about one URI. */
export interface Answer {
  readonly present: boolean;
  /** The deciding key as the map writes it; none when no key of the map covers the URI. */
  readonly key?: string;
  /** The frequency of the deciding key: its row's own, or the sum when several rows decide. */
  readonly frequency?: string;
  /** How far above the URI the key is: 0 for the URI itself, 1 for the first wildcard, and so on. */
  readonly distance?: number;
}

/** What a map says about one key, wildcards included. */
export interface KeyAnswer {
  readonly present: boolean;
  /** The key as the map writes it: `com,cnn)` may answer for `com,cnn)/`. */
  readonly key: string;
  /** None when an asked-for time is covered by no row of the key. */
  readonly frequency?: string;
}

/** Finds single keys of a map, without falling back to a wider one. */
export interface KeyFinder {
  find(key: string, options?: LookupOptions): Promise<KeyAnswer | undefined>;
}

/**
 * A map that answers whether an archive may hold a URI.
 *
 * The most specific key of the map that covers the URI decides (see `lookupKeys`). A memento count
 * of 0 means absent, and so does a map without such a key; the total `*` is never consulted. Rows
 * of one key that differ in further key columns (datetime) count together: one present row is
 * enough, and their frequencies are added. With `at`, only rows that cover that time count; where
 * the deciding key has none, the answer is absent and names the key.
 */
export interface MapLookup extends KeyFinder {
  readonly headers: UkvsHeaders;
  /** Looks a URI up, through its canonical SURT. */
  lookup(uri: string, options?: LookupOptions): Promise<Answer>;
  /** Looks up what is a SURT already, such as the first column of a CDX file. */
  lookupSurt(surt: string, options?: LookupOptions): Promise<Answer>;
}
