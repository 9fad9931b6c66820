import { compareBytes } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { type Header, isJsonObject, SIZE_HEADER, UkvsHeaders } from "../../ukvs/header.ts";

/** What the `page` member of `!meta` says. */
export interface PageMark {
  readonly number: number;
  readonly of: number;
  /** The first and last key of the page; none on an empty page. */
  readonly first?: string;
  readonly last?: string;
}

/**
 * Reads what a header says about pages; undefined for a map that is whole.
 *
 * @throws MM_BAD_HEADER when it makes no sense.
 */
export function pageMark(headers: UkvsHeaders, source: string): PageMark | undefined {
  const mark = headers.meta["page"];
  if (mark === undefined) return undefined;
  const { number, of, first, last } = isJsonObject(mark) ? mark : {};
  if (!isCount(number) || !isCount(of) || number > of) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `the page in "!meta" is ${quote(JSON.stringify(mark) ?? "")}; expected {"number": 1, "of": 2, …}`,
      { position: { source } },
    );
  }
  return {
    number,
    of,
    ...(typeof first === "string" ? { first } : {}),
    ...(typeof last === "string" ? { last } : {}),
  };
}

/** The same headers, of the whole map, without `!size`. A `!meta` that says nothing else goes. */
export function withoutPageMark(headers: UkvsHeaders): UkvsHeaders {
  return new UkvsHeaders(headers.list.flatMap(withoutPageMember));
}

function withoutPageMember(header: Header): Header[] {
  if (header.name === SIZE_HEADER) return [];
  if (header.name !== "meta" || !isJsonObject(header.value) || !("page" in header.value)) {
    return [header];
  }
  const { page: _page, ...rest } = header.value;
  return Object.keys(rest).length === 0 ? [] : [{ name: header.name, value: rest }];
}

/**
 * The headers of a map that is to be read as a whole: without the mark of a page, and without `!size`.
 *
 * @throws MM_PAGE when it is one page of several; MM_BAD_HEADER.
 */
export function wholeMapHeaders(headers: UkvsHeaders, source: string): UkvsHeaders {
  const mark = pageMark(headers, source);
  if (mark === undefined || mark.of === 1) return withoutPageMark(headers);
  throw new MementoMapError(
    "MM_PAGE",
    `this is page ${mark.number} of ${mark.of} of a map, not a map; merge the pages first`,
    { position: { source } },
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

const encoder = new TextEncoder();

/**
 * The keys that a page of a map can speak of: those from its first to its last. Nothing comes before
 * the first page, and nothing after the last.
 */
export class PageRange {
  readonly mark: PageMark;
  readonly #source: string;
  readonly #first: Uint8Array | undefined;
  readonly #last: Uint8Array | undefined;
  readonly #hasRecords: boolean;

  constructor(mark: PageMark, source: string) {
    this.mark = mark;
    this.#source = source;
    this.#hasRecords = mark.first !== undefined && mark.last !== undefined;
    this.#first = mark.number === 1 ? undefined : encoder.encode(mark.first);
    this.#last = mark.number === mark.of ? undefined : encoder.encode(mark.last);
  }

  /** The range of a page; undefined for a map that is whole, of which one page is an instance. */
  static of(headers: UkvsHeaders, source: string): PageRange | undefined {
    const mark = pageMark(headers, source);
    return mark === undefined || mark.of === 1 ? undefined : new PageRange(mark, source);
  }

  /** Negative if a key belongs on an earlier page, positive if on a later one, 0 if on this one. */
  place(key: Uint8Array): number {
    if (this.#first !== undefined && (!this.#hasRecords || compareBytes(key, this.#first) < 0)) {
      return -1;
    }
    const isLater =
      this.#last !== undefined && (!this.#hasRecords || compareBytes(key, this.#last) > 0);
    return isLater ? 1 : 0;
  }

  /** @throws MM_PAGE when a row for the key may be on another page. */
  require(key: Uint8Array): void {
    if (this.place(key) !== 0) throw this.refusal(new TextDecoder().decode(key));
  }

  refusal(key: string): MementoMapError {
    const { number, of, first = "-", last = "-" } = this.mark;
    return new MementoMapError(
      "MM_PAGE",
      `this is page ${number} of ${of}, with the keys from ${quote(first)} to ${quote(last)}; it cannot tell what the map says of ${quote(key)}: merge the pages first`,
      { position: { source: this.#source } },
    );
  }
}
