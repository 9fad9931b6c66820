import { AT, BANG, CR, isDigit, LF, OPEN_BRACE, SPACE } from "../bytes/ascii.ts";
import { skipBlanks } from "../bytes/blanks.ts";
import { isJsonObject, parseRelaxedJson } from "../ukvs/relaxed-json.ts";
import { DATETIME_DIGITS, tryReadDigits } from "./datetime-bytes.ts";
import { formatDatetime } from "./datetime.ts";
import { FedReader } from "./fed-reader.ts";
import { MementoObject } from "./memento-object.ts";
import { takeMember } from "./timemap-member.ts";
import type { TimeMapLimits } from "./timemap-reading.ts";

/** Fourteen digits, and three of milliseconds, which some indexers write. */
const MAX_DIGITS = 17;

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/**
 * Reads a TimeMap that has a memento a line.
 *
 * Such are CDXJ as MemGator and ipwb write it (`20080409203051 {"uri": …}` below `!meta` lines), and
 * the lines of an index that pywb gives as a TimeMap in CDXJ (`com,example)/ 20080409203051 {"url":
 * …}`) and in JSON (`{"timestamp": …, "url": …}`). The lines of an index name the original only: the
 * memento is taken to be where replay tools have it, behind `replayPrefix`; without one they are
 * faults. Needs no order; holds the mementos and one line.
 */
export class CdxjTimeMapReader extends FedReader {
  readonly #memento = new MementoObject();
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
      this.feed.checkLength(newline - start);
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
    const text = DECODER.decode(bytes.subarray(start, end));
    const [, name, json = ""] = /^.(meta|id)\s+(.*)$/s.exec(text) ?? [];
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
    const memento = this.#memento;
    if (!memento.read(bytes, json, end)) return false;
    const datetime = json === start ? memento.datetime : datetimeBefore(bytes, start, json);
    if (datetime === undefined) return false;
    if (!memento.isCapture) {
      this.draft.addMemento(memento.uriBytes, memento.uriStart, memento.uriEnd, datetime);
      return true;
    }
    if (this.#replayPrefix === undefined) return false;
    const original = DECODER.decode(memento.uriBytes.subarray(memento.uriStart, memento.uriEnd));
    const uri = ENCODER.encode(`${this.#replayPrefix}${formatDatetime(datetime)}/${original}`);
    this.draft.addMemento(uri, 0, uri.length, datetime);
    return true;
  }
}

/** The datetime that the field before `at` is. */
function datetimeBefore(bytes: Uint8Array, start: number, at: number): number | undefined {
  let end = at;
  while (end > start && bytes[end - 1] <= SPACE) end--;
  let from = end;
  while (from > start && isDigit(bytes[from - 1])) from--;
  const digits = end - from;
  const isField = from === start || bytes[from - 1] <= SPACE;
  if (!isField || digits < DATETIME_DIGITS || digits > MAX_DIGITS) return undefined;
  return tryReadDigits(bytes, from);
}
