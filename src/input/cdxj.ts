import { AT, BACKSLASH, BANG, CLOSE_PAREN, OPEN_BRACE, QUOTE, SPACE, TAB } from "../bytes/ascii.ts";
import type { Capture, RowKind, RowNeeds, RowParser } from "./capture.ts";
import { ROW } from "./capture.ts";
import { dateEnd } from "./date.ts";
import { JsonLayout } from "./json-layout.ts";
import { JsonMembers } from "./json-members.ts";
import { isNonWeb } from "./non-web.ts";
import { surtHostEnd } from "./surt-column.ts";

const LOWER_H = 0x68;
const LOWER_U = 0x75;
/** What a member of the JSON block tells; bits, so that several can be wanted. */
const URI = 1;
const STATUS = 2;
const MIME = 4;

/** The same fact has a different name in pywb, Internet Archive and InterPlanetary Wayback. */
const FACTS: readonly (readonly [fact: number, names: readonly string[]])[] = [
  [URI, ["url", "original", "original_uri"]],
  [STATUS, ["status", "statuscode", "status_code"]],
  [MIME, ["mime", "mimetype", "mime_type"]],
];

interface FactName {
  readonly fact: number;
  readonly name: Uint8Array;
}

const NO_FACTS: readonly FactName[] = [];
/** By the first byte of the name, which tells nearly all other names apart. */
const FACT_NAMES: (readonly FactName[] | undefined)[] = Array.from({ length: 256 });
for (const [fact, names] of FACTS) {
  for (const text of names) {
    const name = new TextEncoder().encode(text);
    FACT_NAMES[name[0]] = [...(FACT_NAMES[name[0]] ?? NO_FACTS), { fact, name }];
  }
}

/**
 * CDXJ: `surt datetime {json}`, as pywb, WACZ and others write it.
 *
 * The JSON block is opened only when something from it is needed: by a filter, or the URI where the
 * key is no SURT.
 */
export class CdxjParser implements RowParser {
  readonly leadsWithKey = true;
  readonly #needs: RowNeeds;
  readonly #needsJson: boolean;
  /** Facts that are wanted of every row, besides the URI. */
  readonly #wanted: number;
  readonly #keyedByUri: boolean;
  readonly #json = new JsonMembers();
  readonly #layout = new JsonLayout();
  /** The facts that the layout was made for. */
  #layoutOf = 0;
  /** Where the last key that is a SURT has its `)`, from its start. */
  #hostEnd = 0;

  /** @param keyedByUri make keys of the URIs; the key column is used only where there is none. */
  constructor(needs: RowNeeds, keyedByUri: boolean = false) {
    this.#needs = { ...needs, uri: needs.uri || keyedByUri };
    this.#needsJson = keyedByUri || needs.uri || needs.status || needs.mime;
    this.#keyedByUri = keyedByUri;
    this.#wanted = (needs.status ? STATUS : 0) | (needs.mime ? MIME : 0);
  }

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    const first = bytes[start];
    if (first === BANG || first === AT) return ROW.header;
    let at = start + capture.knownKeyBytes;
    while (at < end && bytes[at] > SPACE) at++;
    if (at === start || at === end || !isBlank(bytes[at])) {
      return capture.reject("expected a key, a blank and a datetime");
    }
    capture.keyStart = start;
    capture.keyEnd = at;
    while (at < end && isBlank(bytes[at])) at++;
    capture.dateStart = at;
    at = capture.dateEnd = dateEnd(bytes, at, end);
    if (at === -1 || (at < end && !isBlank(bytes[at]))) {
      return capture.reject("expected a datetime of 4 to 17 digits behind the key");
    }
    while (at < end && isBlank(bytes[at])) at++;
    if (bytes[at] !== OPEN_BRACE || at >= end) {
      return capture.reject("expected a JSON block behind the datetime");
    }
    // A key that repeats was looked at before.
    const isNew = capture.knownKeyBytes < capture.keyEnd - start;
    if (isNew && isNonWeb(bytes, start, capture.keyEnd)) return ROW.nonWeb;
    if (hasNonWebUri(bytes, at, end)) return ROW.nonWeb;
    const isKeyed = !isNew || this.#hasSurt(bytes, capture);
    if (isKeyed && !this.#needsJson) return ROW.capture;
    const kind = this.#parseJson(bytes, at, end, capture, !isKeyed || this.#needs.uri);
    if (!isKeyed || (this.#keyedByUri && capture.uriStart !== -1)) keyByUri(capture);
    return kind;
  }

  repeats(bytes: Uint8Array, keyEnd: number, end: number): boolean {
    if (this.#needsJson || keyEnd >= end || bytes[keyEnd] !== SPACE) return false;
    const at = dateEnd(bytes, keyEnd + 1, end);
    if (at === -1 || at + 1 >= end || bytes[at] !== SPACE) return false;
    return bytes[at + 1] === OPEN_BRACE && !hasNonWebUri(bytes, at + 1, end);
  }

  #hasSurt(bytes: Uint8Array, capture: Capture): boolean {
    const { keyStart, keyEnd, knownKeyBytes } = capture;
    // What is known is the start of a key that is a SURT.
    if (knownKeyBytes > this.#hostEnd && bytes[keyStart + this.#hostEnd] === CLOSE_PAREN) {
      return true;
    }
    const hostEnd = surtHostEnd(bytes, keyStart, keyEnd);
    if (hostEnd === -1) return false;
    this.#hostEnd = hostEnd - keyStart;
    return true;
  }

  #parseJson(
    bytes: Uint8Array,
    start: number,
    end: number,
    capture: Capture,
    needsUri: boolean,
  ): RowKind {
    const json = this.#json;
    const layout = this.#layout;
    let wanted = this.#wanted | (needsUri ? URI : 0);
    capture.uriStart = capture.statusStart = capture.mimeStart = -1;
    capture.hasEscapes = false;
    json.open(bytes, start, end);
    if (wanted === this.#layoutOf && layout.match(bytes, json.view, start, end)) {
      for (let i = 0; i < layout.facts.length; i++) {
        const fact = layout.facts[i];
        if (fact !== 0) setFact(capture, fact, bytes, layout.valueStarts[i], layout.valueEnds[i]);
      }
      return ROW.capture;
    }
    layout.clear();
    this.#layoutOf = wanted;
    let isRegular = true;
    let from = start;
    // What follows the last fact that is wanted is not looked at.
    while (wanted !== 0) {
      const found = json.next();
      if (found !== 1) {
        layout.clear();
        return found === 0 ? ROW.capture : capture.reject("the JSON block is broken");
      }
      const fact = factOf(bytes, json) & wanted;
      const { valueStart, valueEnd } = json;
      isRegular &&= json.isString;
      if (isRegular) layout.learn(bytes, from, valueStart, fact);
      from = valueEnd;
      if (fact === 0) continue;
      wanted ^= fact;
      setFact(capture, fact, bytes, valueStart, valueEnd);
    }
    if (!isRegular) layout.clear();
    return ROW.capture;
  }
}

function setFact(
  capture: Capture,
  fact: number,
  bytes: Uint8Array,
  valueStart: number,
  valueEnd: number,
): void {
  if (fact === URI) {
    capture.uriStart = valueStart;
    capture.uriEnd = valueEnd;
  } else if (fact === STATUS) {
    capture.statusStart = valueStart;
    capture.statusEnd = valueEnd;
  } else {
    capture.mimeStart = valueStart;
    capture.mimeEnd = valueEnd;
  }
  if (hasBackslash(bytes, valueStart, valueEnd)) capture.hasEscapes = true;
}

function factOf(bytes: Uint8Array, json: JsonMembers): number {
  const candidates = FACT_NAMES[bytes[json.nameStart]];
  if (candidates === undefined) return 0;
  for (const { fact, name } of candidates) if (json.isNamed(name)) return fact;
  return 0;
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/**
 * Whether a JSON block begins with a URI of something that is no web page. `metadata://x.org/` has
 * the same SURT as a page; pywb's indexer writes the URI first.
 */
function hasNonWebUri(bytes: Uint8Array, start: number, end: number): boolean {
  // {"url": "…" or {"url":"…"
  if (bytes[start + 2] !== LOWER_U || bytes[start + 5] !== QUOTE) return false;
  const uri = start + (bytes[start + 7] === SPACE ? 9 : 8);
  return bytes[uri] !== LOWER_H && uri < end && isNonWeb(bytes, uri, end);
}

/** Takes the key for a URI where the JSON block has none. */
function keyByUri(capture: Capture): void {
  if (capture.uriStart === -1) {
    capture.uriStart = capture.keyStart;
    capture.uriEnd = capture.keyEnd;
  }
  capture.keyStart = capture.keyEnd = -1;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}
