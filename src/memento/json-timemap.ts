import {
  AT,
  BANG,
  CLOSE_BRACE,
  COLON,
  CR,
  isDigit,
  LF,
  OPEN_BRACE,
  QUOTE,
  skipBlanks,
  skipBlanksAndCommas,
  SPACE,
} from "../bytes/bytes.ts";
import { stringEnd, unescapeJson, valueEnd } from "../bytes/json-members.ts";
import { isJsonObject, parseRelaxedJson } from "../ukvs/header.ts";
import {
  FedReader,
  type TimeMapDraft,
  type TimeMapLimits,
  type TimeMapLink,
} from "./timemap-reading.ts";
import { DATETIME_DIGITS, formatDatetime, tryParseDatetime, tryReadDatetime } from "./datetime.ts";
import { uriText } from "./memento-list.ts";

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

type Place = "before" | "root" | "mementos" | "list" | "index" | "behind" | "over";

/**
 * Reads a JSON TimeMap as written by MemGator and formerly by Time Travel: `original_uri`, and `mementos.list` of
 * objects with `uri` and `datetime`; or `timemap_index`, which lists pages.
 *
 * Other members are skipped. A following document is read as part of the first. A list item that is not a memento
 * is a
 * fault; invalid JSON is a fault and ends the reading. Members may come in any order. Holds the mementos and one
 * item.
 */
export class JsonTimeMapReader extends FedReader {
  #place: Place = "before";

  protected override scan(bytes: Uint8Array, end: number, isLast: boolean): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (this.#place !== "over") {
      at = skipBlanksAndCommas(bytes, at, end);
      const behind = at === end ? -1 : this.#step(bytes, view, at, end);
      if (behind !== -1) at = behind;
      else if (!isLast || this.#place === "behind") return at;
      else this.#fail(bytes, at, end);
    }
    return end;
  }

  /** Reads the next item; returns the offset after it, or -1 if it is incomplete. */
  #step(bytes: Uint8Array, view: DataView, at: number, end: number): number {
    const place = this.#place;
    if (place === "root" || place === "mementos") return this.#member(bytes, view, at, end);
    if (place === "list" || place === "index") return this.#item(bytes, view, at, end);
    if (bytes[at] === OPEN_BRACE) {
      this.#place = "root";
      return at + 1;
    }
    if (place === "before") return this.#fail(bytes, at, end);
    // Any other content after the document is ignored.
    this.#place = "over";
    return end;
  }

  #member(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    if (bytes[start] === CLOSE_BRACE) {
      this.#place = this.#place === "mementos" ? "root" : "behind";
      return start + 1;
    }
    if (bytes[start] !== QUOTE) return this.#fail(bytes, start, end);
    const nameEnd = stringEnd(bytes, view, start + 1, end);
    if (nameEnd === -1) return -1;
    let at = skipBlanks(bytes, nameEnd + 1, end);
    if (at === end) return -1;
    this.checkLength(at - start);
    if (bytes[at] !== COLON) return this.#fail(bytes, start, end);
    at = skipBlanks(bytes, at + 1, end);
    if (at === end) return -1;
    this.checkLength(at - start);
    const name = unescapeJson(bytes, start + 1, nameEnd);
    const inner = this.#placeIn(name, bytes[at]);
    if (inner !== undefined) {
      this.#place = inner;
      return at + 1;
    }
    const behind = valueEnd(bytes, view, at, end);
    this.checkLength(behind - start);
    if (behind !== -1 && this.#place === "root") {
      takeMember(this.draft, name, tryParseJson(uriText(bytes, at, behind)));
    }
    return behind;
  }

  /** The state for the value of a member, if that is read incrementally. */
  #placeIn(name: string, first: number): Place | undefined {
    if (this.#place === "mementos") {
      return name === "list" && first === OPEN_BRACKET ? "list" : undefined;
    }
    if (name === "mementos" && first === OPEN_BRACE) return "mementos";
    return name === "timemap_index" && first === OPEN_BRACKET ? "index" : undefined;
  }

  #item(bytes: Uint8Array, view: DataView, at: number, end: number): number {
    if (bytes[at] === CLOSE_BRACKET) {
      this.#place = this.#place === "list" ? "mementos" : "root";
      return at + 1;
    }
    const behind = valueEnd(bytes, view, at, end);
    this.checkLength(behind - at);
    // A closing brace here would not end the list.
    if (behind === at) return this.#fail(bytes, at, end);
    if (behind === -1) return -1;
    if (this.#place === "index") {
      const item = tryParseJson(uriText(bytes, at, behind));
      takeMember(this.draft, "timemap_index", isJsonObject(item) ? [item] : item);
      return behind;
    }
    const { uri, datetime } = readMemento(bytes, at, behind) ?? {};
    if (uri === undefined || datetime === undefined) this.draft.addFault(bytes, at, behind);
    else this.draft.addMemento(uri, datetime);
    return behind;
  }

  #fail(bytes: Uint8Array, at: number, end: number): number {
    this.draft.addFault(bytes, at, end);
    this.#place = "over";
    return end;
  }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A member that is not valid JSON is ignored; the scan determines whether reading can continue.
    return undefined;
  }
}

/** Fourteen digits plus milliseconds, which some indexers write. */
const MAX_DIGITS = 17;

/**
 * Reads a TimeMap with one memento per line.
 *
 * These are CDXJ as written by MemGator and ipwb (`20080409203051 {"uri": …}` after `!meta` lines), and the index
 * lines
 * that pywb returns as a TimeMap in CDXJ (`com,example)/ 20080409203051 {"url": …}`) and JSON (`{"timestamp": …,
 * "url":
 * …}`). Index lines contain only the original URI: the URI-M is built from `replayPrefix` as in replay tools;
 * without it
 * such lines are faults. Lines may come in any order. Holds the mementos and one line.
 */
export class CdxjTimeMapReader extends FedReader {
  readonly #replayPrefix: string | undefined;

  constructor(replayPrefix?: string, limits: TimeMapLimits = {}) {
    super(limits);
    this.#replayPrefix = replayPrefix;
  }

  protected override scan(bytes: Uint8Array, end: number, isLast: boolean): number {
    let start = 0;
    for (;;) {
      const newline = bytes.indexOf(LF, start);
      if (newline === -1 || newline >= end) break;
      this.checkLength(newline - start);
      this.#line(bytes, start, newline);
      start = newline + 1;
    }
    if (!isLast) return start;
    this.#line(bytes, start, end);
    return end;
  }

  #line(bytes: Uint8Array, from: number, to: number): void {
    const end = to > from && bytes[to - 1] === CR ? to - 1 : to;
    const start = skipBlanks(bytes, from, end);
    if (start === end) return;
    const first = bytes[start];
    const isTaken =
      first === BANG || first === AT
        ? this.#takeHeader(bytes, start, end)
        : this.#takeMemento(bytes, start, end);
    if (!isTaken) this.draft.addFault(bytes, start, end);
  }

  #takeHeader(bytes: Uint8Array, start: number, end: number): boolean {
    const text = uriText(bytes, start, end);
    const [, name, json = ""] = /^.(meta|id)\s+(\S.*)?/s.exec(text) ?? [];
    if (name === undefined) return true;
    let value: unknown;
    try {
      value = parseRelaxedJson(json);
    } catch {
      return false;
    }
    if (!isJsonObject(value)) return false;
    if (name === "id") takeMember(this.draft, "self", value["uri"]);
    else for (const [member, of] of Object.entries(value)) takeMember(this.draft, member, of);
    return true;
  }

  #takeMemento(bytes: Uint8Array, start: number, end: number): boolean {
    let json = start;
    while (json < end && bytes[json] !== OPEN_BRACE) json++;
    const memento = readMemento(bytes, json, end);
    const datetime = json === start ? memento?.datetime : datetimeBefore(bytes, start, json);
    if (memento === undefined || datetime === undefined) return false;
    const { uri, original } = memento;
    if (original === undefined) {
      this.draft.addMemento(uri, datetime);
      return true;
    }
    if (this.#replayPrefix === undefined) return false;
    this.draft.addMemento(`${this.#replayPrefix}${formatDatetime(datetime)}/${original}`, datetime);
    return true;
  }
}

/** The datetime in the field that ends before `at`. */
function datetimeBefore(bytes: Uint8Array, start: number, at: number): number | undefined {
  let end = at;
  while (end > start && bytes[end - 1] <= SPACE) end--;
  let from = end;
  while (from > start && isDigit(bytes[from - 1])) from--;
  const digits = end - from;
  const isField = from === start || bytes[from - 1] <= SPACE;
  if (!isField || digits < DATETIME_DIGITS || digits > MAX_DIGITS) return undefined;
  return tryReadDatetime(bytes, from, from + DATETIME_DIGITS);
}

/** The JSON of a memento (`uri`), or of a capture, which has only the original URI (`url`). */
interface MementoObject {
  readonly uri: string;
  readonly original?: string;
  readonly datetime: number | undefined;
}

/** Undefined if there is no URI. */
function readMemento(bytes: Uint8Array, start: number, end: number): MementoObject | undefined {
  const text = uriText(bytes, start, end);
  const value = tryParseJson(text);
  if (!isJsonObject(value)) {
    // ipwb writes `"datetime"="…"`, which is not JSON.
    const found = value === undefined ? /"uri"\s*[:=]\s*"([^"\\]+)"/.exec(text) : null;
    return found === null ? undefined : { uri: found[1], datetime: undefined };
  }
  const { uri, url, datetime: stated, timestamp } = value;
  const datetime = datetimeOf(stated) ?? datetimeOf(timestamp);
  if (typeof uri === "string") return { uri, datetime };
  return typeof url === "string" ? { uri: url, original: url, datetime } : undefined;
}

function datetimeOf(value: unknown): number | undefined {
  return typeof value === "string" || typeof value === "number"
    ? tryParseDatetime(String(value))
    : undefined;
}

/** Reads a known member of a JSON TimeMap, or of the `!meta` lines of a CDXJ one; ignores others. */
function takeMember(draft: TimeMapDraft, name: string, value: unknown): void {
  if (name === "original_uri" && typeof value === "string") draft.takeOriginal(value);
  if (name === "timegate_uri" && typeof value === "string") draft.timegate ??= value;
  if (name === "self") takePage(draft, "self", { uri: value });
  if (name === "timemap_index" && Array.isArray(value)) {
    for (const page of value as unknown[]) takePage(draft, "timemap", page);
  }
  if (name === "pages" && isJsonObject(value)) {
    takePage(draft, "prev", value["prev"]);
    takePage(draft, "next", value["next"]);
  }
}

function takePage(draft: TimeMapDraft, rel: TimeMapLink["rel"], page: unknown): void {
  if (!isJsonObject(page) || typeof page["uri"] !== "string") return;
  const { uri, from, until } = page;
  draft.pages.push({
    uri,
    rel,
    type: undefined,
    from: datetimeOf(from),
    until: datetimeOf(until),
  });
}
