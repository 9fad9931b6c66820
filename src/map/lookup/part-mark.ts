import { MementoMapError, quote } from "../../errors.ts";
import { isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { pageMark } from "./map-head.ts";

/**
 * What the `part` member of `!meta` says: that the rows are those of one range of keys of a map, made
 * apart from the others. To all that reads maps, a part is a page.
 */
export interface PartMark {
  readonly number: number;
  readonly of: number;
  /** The keys from here on; from the first by default. */
  readonly from?: string | undefined;
  /** The keys before this one; up to the last by default. */
  readonly to?: string | undefined;
  /** How it was compacted: what is told apart by this cannot be joined. */
  readonly compacted?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads what a header says about parts; undefined for what is none.
 *
 * @throws MM_BAD_HEADER when it makes no sense.
 */
export function partMark(headers: UkvsHeaders, source: string): PartMark | undefined {
  const mark = headers.meta["part"];
  if (mark === undefined) return undefined;
  const page = pageMark(headers, source);
  const { from, to, compacted } = isJsonObject(mark) ? mark : {};
  if (page === undefined || !isBound(from) || !isBound(to)) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `the part in "!meta" is ${quote(JSON.stringify(mark))}; expected {"number": 1, "of": 2, …}`,
      { position: { source } },
    );
  }
  const { number, of } = page;
  return { number, of, from, to, ...(isJsonObject(compacted) ? { compacted } : {}) };
}

function isBound(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** The same headers with a mark, in a `!meta` of its own. */
export function withPartMark(headers: UkvsHeaders, mark: PartMark): UkvsHeaders {
  return headers.with({ name: "meta", value: { part: mark } });
}
