import type { UkvsHeaders } from "./header.ts";

/**
 * What the `part` member of `!meta` says: that the rows are those of one range of keys of a map, made
 * apart from the others. To all that reads maps, a part is a page.
 */
interface PartMark {
  readonly number: number;
  readonly of: number;
  /** The keys from here on; from the first by default. */
  readonly from?: string | undefined;
  /** The keys before this one; up to the last by default. */
  readonly to?: string | undefined;
  /** How it was compacted: what is told apart by this cannot be joined. */
  readonly compacted?: Readonly<Record<string, unknown>> | undefined;
}

/** The same headers with a mark, in a `!meta` of its own. */
export function withPartMark(headers: UkvsHeaders, mark: PartMark): UkvsHeaders {
  return headers.with({ name: "meta", value: { part: mark } });
}
