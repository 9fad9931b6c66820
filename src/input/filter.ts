import { MementoMapError, quote } from "../errors.ts";
import { type Capture, isRevisit } from "./capture.ts";
import { unescapeJson } from "../bytes/json-members.ts";

/** Which captures to count; an empty or missing member lets everything pass. */
export interface CaptureFilter {
  /** Status codes such as `200`, or classes such as `2xx`. */
  readonly status?: readonly string[] | undefined;
  /** MIME types such as `text/html`, or groups such as `image/*`; parameters are ignored. */
  readonly mime?: readonly string[] | undefined;
  /** 4 to 14 digits; captures from this time on. */
  readonly from?: string | undefined;
  /** 4 to 14 digits; captures up to and including this time: `2012` is the whole year. */
  readonly to?: string | undefined;
  /** Regular expressions over the original URI, or the SURT where there is none. */
  readonly exclude?: readonly string[] | undefined;
  /** Leave out revisits: captures of a page that was found unchanged. */
  readonly skipRevisits?: boolean | undefined;
}

/** Why a capture was left out. */
export type FilterReason = "status" | "mime" | "date" | "exclude" | "revisit";

/**
 * The paper's choice: pages that were answered with 200, and no robots.txt or sitemap.xml that was
 * served as HTML by mistake.
 */
export const PAPER_PRESET: CaptureFilter = {
  status: ["200"],
  mime: ["text/html"],
  exclude: ["/(robots\\.txt|sitemap\\.xml)([?#]|$)"],
};

/** Two filters as one: what either leaves out is left out. */
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

/** Whether nothing is left out. */
export function isEmptyFilter(filter: CaptureFilter): boolean {
  const { status, mime, from, to, exclude, skipRevisits } = filter;
  const lists = [status, mime, exclude];
  return !lists.some(isGiven) && from === undefined && to === undefined && skipRevisits !== true;
}

function isGiven(list: readonly string[] | undefined): list is readonly string[] {
  return list !== undefined && list.length > 0;
}

/** Decides capture by capture; see {@link CaptureFilter}. */
export class CaptureSieve {
  readonly #filter: CaptureFilter;
  readonly #status: RegExp | undefined;
  readonly #mime: RegExp | undefined;
  readonly #exclude: readonly RegExp[];
  readonly #decoder = new TextDecoder("latin1");
  /** By the three bytes of a status. */
  readonly #statusVerdicts = new Map<number, boolean>();
  readonly #lastMime = new Uint8Array(64);
  #lastMimeLength = -1;
  #lastMimeVerdict = false;

  /** @throws MM_USAGE for a malformed date, status or regular expression. */
  constructor(filter: CaptureFilter) {
    this.#filter = filter;
    for (const date of [filter.from, filter.to]) {
      if (date !== undefined && !/^\d{4,14}$/.test(date)) {
        throw new MementoMapError("MM_USAGE", `not a date of 4 to 14 digits: ${quote(date)}`);
      }
    }
    this.#status = isGiven(filter.status) ? statusPattern(filter.status) : undefined;
    this.#mime = isGiven(filter.mime) ? mimePattern(filter.mime) : undefined;
    this.#exclude = (filter.exclude ?? []).map(compileExclude);
  }

  get skipsRevisits(): boolean {
    return this.#filter.skipRevisits === true;
  }

  /** Whether captures may be left out for their URI. */
  get excludes(): boolean {
    return this.#exclude.length > 0;
  }

  /** The reason to leave a capture out, or undefined to count it. */
  reject(bytes: Uint8Array, capture: Capture): FilterReason | undefined {
    if (this.skipsRevisits && isRevisit(bytes, capture)) return "revisit";
    const { from, to } = this.#filter;
    if (from !== undefined || to !== undefined) {
      if (capture.dateStart === -1) return "date";
      const date = this.#decoder.decode(bytes.subarray(capture.dateStart, capture.dateEnd));
      if (from !== undefined && date < from.slice(0, date.length)) return "date";
      if (to !== undefined && date.slice(0, to.length) > to) return "date";
    }
    if (!this.hasStatus(bytes, capture)) return "status";
    if (!this.hasMime(bytes, capture)) return "mime";
    if (this.excludes) {
      const uri =
        capture.uriStart === -1
          ? this.#decoder.decode(bytes.subarray(capture.keyStart, capture.keyEnd))
          : this.#text(bytes, capture.uriStart, capture.uriEnd, capture);
      if (this.#exclude.some((pattern) => pattern.test(uri))) return "exclude";
    }
    return undefined;
  }

  /** Whether the status of a capture is among those asked for, if any were. */
  hasStatus(bytes: Uint8Array, capture: Capture): boolean {
    const pattern = this.#status;
    if (pattern === undefined) return true;
    const { statusStart: start, statusEnd: end } = capture;
    if (start === -1 || end - start !== 3)
      return pattern.test(this.#text(bytes, start, end, capture));
    // Nearly every row has one of a few codes: ask the pattern once for each.
    const code = (bytes[start] << 16) | (bytes[start + 1] << 8) | bytes[start + 2];
    let verdict = this.#statusVerdicts.get(code);
    if (verdict === undefined) {
      verdict = pattern.test(this.#text(bytes, start, end, capture));
      this.#statusVerdicts.set(code, verdict);
    }
    return verdict;
  }

  /** Whether the MIME type of a capture is among those asked for, if any were. */
  hasMime(bytes: Uint8Array, capture: Capture): boolean {
    const pattern = this.#mime;
    if (pattern === undefined) return true;
    // Neighbours mostly have the same type: the pattern is asked only where it changes.
    const { mimeStart: start, mimeEnd: end } = capture;
    const last = this.#lastMime;
    const length = end - start;
    if (start !== -1 && length === this.#lastMimeLength) {
      let i = 0;
      while (i < length && bytes[start + i] === last[i]) i++;
      if (i === length) return this.#lastMimeVerdict;
    }
    const verdict = pattern.test(this.#text(bytes, start, end, capture));
    this.#lastMimeLength = start !== -1 && length <= last.length ? length : -1;
    for (let i = 0; i < this.#lastMimeLength; i++) last[i] = bytes[start + i];
    this.#lastMimeVerdict = verdict;
    return verdict;
  }

  #text(bytes: Uint8Array, start: number, end: number, { hasEscapes }: Capture): string {
    if (start === -1) return "";
    if (hasEscapes) return unescapeJson(bytes, start, end);
    return this.#decoder.decode(bytes.subarray(start, end));
  }
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
