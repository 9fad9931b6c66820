import { MementoMapError, quote } from "../errors.ts";
import { type Capture, isRevisit } from "./capture.ts";
import { unescapeJson } from "../bytes/json-members.ts";

/** Which captures to count; an empty or missing member does not filter. */
export interface CaptureFilter {
  /** Status codes such as `200`, or classes such as `2xx`. */
  readonly status?: readonly string[] | undefined;
  /** MIME types such as `text/html`, or groups such as `image/*`; parameters are ignored. */
  readonly mime?: readonly string[] | undefined;
  /** 4 to 14 digits; only captures from this time on. */
  readonly from?: string | undefined;
  /** 4 to 14 digits; only captures up to and including this time: `2012` is the whole year. */
  readonly to?: string | undefined;
  /** Regular expressions to exclude captures by original URI, or by SURT if there is none. */
  readonly exclude?: readonly string[] | undefined;
  /** Skip revisits: captures of a page that was found unchanged. */
  readonly skipRevisits?: boolean | undefined;
}

/** Why a capture was excluded. */
export type FilterReason = "status" | "mime" | "date" | "exclude" | "revisit";

/**
 * The filter of the paper: pages with status 200, without robots.txt and sitemap.xml served as HTML
 * by mistake.
 */
export const PAPER_PRESET: CaptureFilter = {
  status: ["200"],
  mime: ["text/html"],
  exclude: ["/(robots\\.txt|sitemap\\.xml)([?#]|$)"],
};

/** Combines two filters: a capture must pass both; `b` overrides status, type and dates. */
export function joinFilters(a: CaptureFilter, b: CaptureFilter): CaptureFilter {
  return {
    status: b.status ?? a.status,
    mime: b.mime ?? a.mime,
    from: b.from ?? a.from,
    to: b.to ?? a.to,
    exclude: [...(a.exclude ?? []), ...(b.exclude ?? [])],
    ...(a.skipRevisits === true || b.skipRevisits === true ? { skipRevisits: true } : {}),
  };
}

/** Whether a filter passes all captures. */
export function isEmptyFilter(filter: CaptureFilter): boolean {
  const { status, mime, from, to, exclude, skipRevisits } = filter;
  const lists = [status, mime, exclude];
  return !lists.some(isNonEmpty) && from === undefined && to === undefined && skipRevisits !== true;
}

function isNonEmpty(list: readonly string[] | undefined): list is readonly string[] {
  return list !== undefined && list.length > 0;
}

/** Applies a {@link CaptureFilter} to captures. */
export class CaptureSieve {
  readonly #filter: CaptureFilter;
  readonly #status: ColumnTest | undefined;
  readonly #mime: ColumnTest | undefined;
  readonly #exclude: readonly RegExp[];

  /** @throws MM_USAGE for a malformed date, status or regular expression. */
  constructor(filter: CaptureFilter) {
    this.#filter = filter;
    for (const date of [filter.from, filter.to]) {
      if (date !== undefined && !/^\d{4,14}$/.test(date)) {
        throw new MementoMapError("MM_USAGE", `not a date of 4 to 14 digits: ${quote(date)}`);
      }
    }
    this.#status = isNonEmpty(filter.status)
      ? new ColumnTest(statusPattern(filter.status))
      : undefined;
    this.#mime = isNonEmpty(filter.mime) ? new ColumnTest(mimePattern(filter.mime)) : undefined;
    this.#exclude = (filter.exclude ?? []).map(compileExclude);
  }

  /** The reason to exclude a capture, or undefined to count it. */
  reject(bytes: Uint8Array, capture: Capture): FilterReason | undefined {
    const { from, to, skipRevisits } = this.#filter;
    if (skipRevisits === true && isRevisit(bytes, capture)) return "revisit";
    if (from !== undefined || to !== undefined) {
      if (capture.dateStart === -1) return "date";
      const date = decoder.decode(bytes.subarray(capture.dateStart, capture.dateEnd));
      if (from !== undefined && date < from.slice(0, date.length)) return "date";
      if (to !== undefined && date.slice(0, to.length) > to) return "date";
    }
    const { hasEscapes, statusStart, statusEnd, mimeStart, mimeEnd } = capture;
    if (this.#status?.allows(bytes, statusStart, statusEnd, hasEscapes) === false) return "status";
    if (this.#mime?.allows(bytes, mimeStart, mimeEnd, hasEscapes) === false) return "mime";
    if (this.#exclude.length > 0) {
      const uri =
        capture.uriStart === -1
          ? textOf(bytes, capture.keyStart, capture.keyEnd, false)
          : textOf(bytes, capture.uriStart, capture.uriEnd, hasEscapes);
      if (this.#exclude.some((pattern) => pattern.test(uri))) return "exclude";
    }
    return undefined;
  }
}

/** A pattern for a column that rarely changes from row to row: equal values reuse the last result. */
class ColumnTest {
  readonly #pattern: RegExp;
  readonly #last = new Uint8Array(64);
  #lastLength = -1;
  #lastResult = false;

  constructor(pattern: RegExp) {
    this.#pattern = pattern;
  }

  /** Whether the pattern matches; a missing column is treated as empty. */
  allows(bytes: Uint8Array, start: number, end: number, hasEscapes: boolean): boolean {
    if (start === -1) return this.#pattern.test("");
    const last = this.#last;
    const length = end - start;
    if (length === this.#lastLength) {
      let i = 0;
      while (i < length && bytes[start + i] === last[i]) i++;
      if (i === length) return this.#lastResult;
    }
    this.#lastResult = this.#pattern.test(textOf(bytes, start, end, hasEscapes));
    this.#lastLength = length <= last.length ? length : -1;
    for (let i = 0; i < this.#lastLength; i++) last[i] = bytes[start + i];
    return this.#lastResult;
  }
}

const decoder = new TextDecoder("latin1");

function textOf(bytes: Uint8Array, start: number, end: number, hasEscapes: boolean): string {
  return hasEscapes ? unescapeJson(bytes, start, end) : decoder.decode(bytes.subarray(start, end));
}

function statusPattern(codes: readonly string[]): RegExp {
  for (const code of codes) {
    if (!/^([1-9]\d\d|[1-9]xx|-)$/i.test(code)) {
      throw new MementoMapError("MM_USAGE", `not a status such as 200 or 2xx: ${quote(code)}`);
    }
  }
  return new RegExp(`^(?:${codes.join("|").replaceAll(/xx/gi, "\\d\\d")})$`);
}

function mimePattern(types: readonly string[]): RegExp {
  const escaped = types.map((type) =>
    type.replaceAll(/[.+?^${}()|[\]\\/]/g, "\\$&").replaceAll("*", "[^;\\s]*"),
  );
  return new RegExp(`^(?:${escaped.join("|")})(?:[;\\s]|$)`, "i");
}

function compileExclude(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "i");
  } catch (cause) {
    throw new MementoMapError("MM_USAGE", `not a regular expression: ${quote(pattern)}`, { cause });
  }
}
