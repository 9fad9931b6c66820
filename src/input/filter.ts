import { MementoMapError, quote } from "../errors.ts";
import { type Capture, isRevisit, type RowNeeds } from "./capture.ts";
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
export const FILTER_REASONS = ["status", "mime", "date", "exclude", "revisit"] as const;
export type FilterReason = (typeof FILTER_REASONS)[number];

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

/** What a parser must deliver for a filter to work. */
export function filterNeeds(filter: CaptureFilter): RowNeeds {
  return {
    uri: isGiven(filter.exclude),
    status: isGiven(filter.status),
    mime: isGiven(filter.mime) || filter.skipRevisits === true,
  };
}

/** Whether nothing is left out. */
export function isEmptyFilter(filter: CaptureFilter): boolean {
  const { uri, status, mime } = filterNeeds(filter);
  return !uri && !status && !mime && filter.from === undefined && filter.to === undefined;
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

/** Shorter ones stand in nearly every text. */
const LEAST_LENGTH = 3;

/**
 * Texts: a string must contain at least one, in any case, for a regular expression to
 * match it; undefined if unknown. Fast paths use it: most strings have none of them.
 *
 * Reads a subset of the syntax, without the flags `u` and `v`, and gives up on everything else.
 */
export function requiredLiterals(pattern: string): readonly string[] | undefined {
  const literals = new Reader(pattern).read();
  const areLong = literals?.every((literal) => literal.length >= LEAST_LENGTH) ?? false;
  return areLong ? literals : undefined;
}

type Literals = readonly string[] | undefined;

/** Stands for syntax that is not understood. */
class Unread extends Error {}

class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): Literals {
    try {
      const literals = this.#alternatives();
      return this.#at === this.#pattern.length ? literals : undefined;
    } catch (error) {
      if (error instanceof Unread) return undefined;
      throw error;
    }
  }

  /** Any of the alternatives may be the one that matches: each must have a literal. */
  #alternatives(): Literals {
    const all = [this.#sequence()];
    while (this.#skip("|")) all.push(this.#sequence());
    return all.every((literals) => literals !== undefined) ? all.flat() : undefined;
  }

  /** All parts of a sequence must match: the part with the longest literals tells most. */
  #sequence(): Literals {
    let best: Literals;
    let run = "";
    const offer = (literals: Literals): void => {
      if (literals !== undefined && shortest(literals) > shortest(best ?? [])) best = literals;
    };
    const endRun = (): void => {
      offer([run]);
      run = "";
    };
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern[this.#at])) {
      const { literals, text } = this.#atom();
      const [least, most] = this.#quantifier();
      if (text === undefined || least === 0) endRun();
      else run += text;
      if (text !== undefined && most > 1) endRun();
      if (text === undefined && least > 0) offer(literals);
    }
    endRun();
    return best;
  }

  /** A character that stands for itself, or something else that may have literals in it. */
  #atom(): { text?: string; literals?: Literals } {
    const first = this.#pattern[this.#at++];
    if (first === "(") return { literals: this.#group() };
    if (first === "[") return this.#class();
    if (first === "\\") return this.#escape();
    if ("^$.".includes(first)) return {};
    if ("*+?{}])".includes(first)) throw new Unread();
    return { text: asLiteral(first) };
  }

  #group(): Literals {
    const isPlain = !this.#skip("?") || this.#skip(":");
    // Of what is looked ahead or behind for, and of names, nothing is read.
    if (!isPlain) throw new Unread();
    const literals = this.#alternatives();
    if (!this.#skip(")")) throw new Unread();
    return literals;
  }

  #class(): Record<string, never> {
    const end = /^(?:\\.|[^\\\]])*\]/s.exec(this.#pattern.slice(this.#at));
    if (end === null) throw new Unread();
    this.#at += end[0].length;
    return {};
  }

  #escape(): { text?: string } {
    const escaped = this.#pattern[this.#at++] ?? "";
    if (/^[dDwWsSbBtnrfv]$/.test(escaped)) return {};
    if (!/^[^\w\s]$/.test(escaped)) throw new Unread();
    return { text: asLiteral(escaped) };
  }

  #quantifier(): readonly [least: number, most: number] {
    const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#pattern.slice(this.#at));
    if (found === null) return [1, 1];
    this.#at += found[0].length;
    const [text, least, comma, most] = found;
    if (text.startsWith("{")) {
      const atMost = comma === undefined ? least : most === "" ? Infinity : most;
      return [Number(least), Number(atMost)];
    }
    return [text.startsWith("+") ? 1 : 0, text.startsWith("?") ? 1 : Infinity];
  }

  #skip(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

function shortest(literals: readonly string[]): number {
  return literals.length === 0 ? 0 : Math.min(...literals.map((literal) => literal.length));
}

/** Only of printable ASCII is it plain which bytes it matches. */
function asLiteral(character: string): string {
  if (!/^[\x20-\x7e]$/.test(character)) throw new Unread();
  return character.toLowerCase();
}
