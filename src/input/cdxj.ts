import { AT, BACKSLASH, BANG, CLOSE_PAREN, OPEN_BRACE, QUOTE, SPACE, TAB } from "../bytes/bytes.ts";
import {
  type Capture,
  dateEnd,
  isNonWeb,
  ROW,
  type RowKind,
  type RowNeeds,
  type RowParser,
  surtHostEnd,
} from "./capture.ts";
import { JsonMembers } from "../bytes/json-members.ts";
import { FACT, JsonLayout, JsonLayouts } from "./json-layout.ts";

const LOWER_H = 0x68;
const LOWER_U = 0x75;
/**
 * CDXJ: `surt datetime {json}`, as pywb, WACZ and others write it.
 *
 * The JSON block is opened only when something from it is needed: by a filter, or the URI where the
 * key is not a SURT.
 */
export class CdxjParser implements RowParser {
  readonly leadsWithKey = true;
  layout: JsonLayout | undefined;
  readonly #needs: RowNeeds;
  readonly #needsJson: boolean;
  /** Facts that are wanted of every row, besides the URI. */
  readonly #wanted: number;
  readonly #keyedByUri: boolean;
  readonly #json = new JsonMembers();
  readonly #layouts = new JsonLayouts();
  /** Where the last key that is a SURT has its `)`, from its start. */
  #hostEnd = 0;

  /** @param keyedByUri make keys of the URIs; the key column is used only where there is none. */
  constructor(needs: RowNeeds, keyedByUri: boolean = false) {
    this.#needs = { ...needs, uri: needs.uri || keyedByUri };
    this.#needsJson = keyedByUri || needs.uri || needs.status || needs.mime;
    this.#keyedByUri = keyedByUri;
    this.#wanted = (needs.status ? FACT.status : 0) | (needs.mime ? FACT.mime : 0);
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
    // A key that is known, or the start of one that is, is of the web.
    const isNew = capture.knownKeyBytes < capture.keyEnd - start;
    if (isNew && isNonWeb(bytes, start, capture.keyEnd)) return ROW.nonWeb;
    if (hasNonWebUri(bytes, at, end)) return ROW.nonWeb;
    const isKeyed = this.#hasSurt(bytes, capture);
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
    if (knownKeyBytes > this.#hostEnd + 1 && bytes[keyStart + this.#hostEnd] === CLOSE_PAREN) {
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
    const wanted = this.#wanted | (needsUri ? FACT.uri : 0);
    capture.uriStart = capture.statusStart = capture.mimeStart = -1;
    capture.hasEscapes = false;
    json.open(bytes, start, end);
    const layout = this.#layouts.match(wanted, bytes, json.view, start, end);
    this.layout = layout;
    if (layout === undefined) return this.#learnLayout(bytes, start, capture, wanted);
    for (let i = 0; i < layout.facts.length; i++) {
      const fact = layout.facts[i];
      if (fact !== 0) setFact(capture, fact, bytes, layout.valueStarts[i], layout.valueEnds[i]);
    }
    return ROW.capture;
  }

  /** Goes over the block member by member. */
  #learnLayout(bytes: Uint8Array, start: number, capture: Capture, wanted: number): RowKind {
    const json = this.#json;
    const layout = new JsonLayout(wanted);
    let missing = wanted;
    let isRegular = true;
    let from = start;
    // What follows the last fact that is wanted is not looked at.
    while (missing !== 0) {
      const found = json.next();
      if (found === -1) return capture.reject("the JSON block is broken");
      if (found === 0) {
        layout.tail = bytes.slice(from, json.offset + 1);
        break;
      }
      const fact = factOf(bytes, json) & missing;
      const { valueStart, valueEnd } = json;
      isRegular &&= json.isScalar;
      if (isRegular) {
        layout.gaps.push(bytes.slice(from, valueStart));
        layout.facts.push(fact);
      }
      from = valueEnd;
      if (fact === 0) continue;
      missing ^= fact;
      setFact(capture, fact, bytes, valueStart, valueEnd);
    }
    if (isRegular) {
      this.#layouts.add(layout);
      this.layout = layout;
    }
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
  if (fact === FACT.uri) {
    capture.uriStart = valueStart;
    capture.uriEnd = valueEnd;
  } else if (fact === FACT.status) {
    capture.statusStart = valueStart;
    capture.statusEnd = valueEnd;
  } else {
    capture.mimeStart = valueStart;
    capture.mimeEnd = valueEnd;
  }
  if (hasBackslash(bytes, valueStart, valueEnd)) capture.hasEscapes = true;
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/**
 * Whether a JSON block begins with a URI of something else than a web page. `metadata://x.org/` has
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

/** The same fact has a different name in pywb, Internet Archive and InterPlanetary Wayback. */
const NAMES: readonly (readonly [fact: number, names: readonly string[]])[] = [
  [FACT.uri, ["url", "original", "original_uri"]],
  [FACT.status, ["status", "statuscode", "status_code"]],
  [FACT.mime, ["mime", "mimetype", "mime_type"]],
];

interface FactName {
  readonly fact: number;
  readonly name: Uint8Array;
}

const NO_FACTS: readonly FactName[] = [];
/** By the first byte of the name, which tells nearly all other names apart. */
const FACT_NAMES: (readonly FactName[] | undefined)[] = Array.from({ length: 256 });
for (const [fact, names] of NAMES) {
  for (const text of names) {
    const name = new TextEncoder().encode(text);
    FACT_NAMES[name[0]] = [...(FACT_NAMES[name[0]] ?? NO_FACTS), { fact, name }];
  }
}

/** What the current member tells; 0 if nothing of interest. */
function factOf(bytes: Uint8Array, json: JsonMembers): number {
  const candidates = FACT_NAMES[bytes[json.nameStart]];
  if (candidates === undefined) return 0;
  for (const { fact, name } of candidates) if (json.isNamed(name)) return fact;
  return 0;
}
