import { COLON, SPACE, TAB } from "../bytes/bytes.ts";
import { httpFault } from "./http-fault.ts";

/** How the body of an answer ends. */
type BodyEnd = "none" | "length" | "chunked" | "close";

/** The head of an answer, as far as connections need to know it. */
export interface ResponseHead {
  readonly status: number;
  readonly fields: HeaderBlock;
  readonly bodyEnd: BodyEnd;
  /** Bytes of the body, where `bodyEnd` is `length`. */
  readonly length: number;
  /** Whether the server keeps the connection for another request. */
  readonly isKept: boolean;
  /** For how long, if it says so. */
  readonly keptMs: number | undefined;
}

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\u0020-\u007e\u0080-\u00ff]*)?$/;
const FIELDS = /^(?:[\w!#$%&'*+.^`|~-]+:[\t\u0020-\u007e\u0080-\u00ff]*\r\n)*$/;
/** A value may go on in the next line; nobody should write so any more (RFC 9112, section 5.2). */
const FOLD = /\r\n[\t ]+/g;

/**
 * Reads the head of an answer, without its last empty line. Characters stand for bytes.
 *
 * @throws what {@link httpFault} gives for what is not HTTP/1.1, or where it is not clear where the body ends.
 */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf("\r\n");
  if (!STATUS_LINE.test(text.slice(0, lineEnd)))
    throw httpFault("the answer does not begin as HTTP/1.1 does");
  const isMinor1 = text.charAt(7) === "1";
  const status = Number(text.slice(9, 12));
  let block = text.slice(lineEnd + 2);
  if (!FIELDS.test(block)) {
    block = block.replaceAll(FOLD, " ");
    if (!FIELDS.test(block))
      throw httpFault("a header of the answer has characters that no header has");
  }
  const framing = framingOf(block);
  const { length, isChunked, isEncoded } = framing;
  if (isEncoded && length !== undefined)
    throw httpFault("the answer has two ends: a length, and chunks");
  const bodyEnd = !hasBody(method, status)
    ? "none"
    : isChunked
      ? "chunked"
      : length === undefined
        ? "close"
        : "length";
  // Chunks came with HTTP/1.1: where they end may be a matter of opinion (RFC 9112, section 6.1).
  const isReusable = !framing.isClosed && (isMinor1 || (framing.isKept && !isEncoded));
  return {
    status,
    fields: new HeaderBlock(block),
    bodyEnd,
    length: length ?? 0,
    isKept: bodyEnd !== "close" && isReusable,
    keptMs: framing.keptMs,
  };
}

/** Whether an answer has a body, whatever its head says of one. */
export function hasBody(method: string, status: number): boolean {
  return method !== "HEAD" && status >= 200 && status !== 204 && status !== 304;
}

interface Framing {
  length: number | undefined;
  /** Whether the body is encoded for transfer, and whether its last coding is chunks. */
  isEncoded: boolean;
  isChunked: boolean;
  isClosed: boolean;
  isKept: boolean;
  keptMs: number | undefined;
}

function framingOf(block: string): Framing {
  const framing: Framing = {
    length: undefined,
    isEncoded: false,
    isChunked: false,
    isClosed: false,
    isKept: false,
    keptMs: undefined,
  };
  for (let at = 0; at < block.length;) {
    const colon = block.indexOf(":", at);
    const end = block.indexOf("\r\n", colon);
    // The lengths of the names below: most others are not looked at.
    const length = colon - at;
    if (length === 10 || length === 14 || length === 17) {
      takeFraming(framing, block.slice(at, colon).toLowerCase(), trimmed(block, colon + 1, end));
    }
    at = end + 2;
  }
  return framing;
}

/** Others are not undone here, so that what is handed on would not be the body. */
const TRANSFER_CODINGS: ReadonlySet<string> = new Set(["", "chunked", "identity"]);

function takeFraming(framing: Framing, name: string, value: string): void {
  if (name === "content-length") {
    const length = /^\d+$/.test(value) ? Number(value) : undefined;
    const isOther = framing.length !== undefined && framing.length !== length;
    if (length === undefined || isOther) throw httpFault("the answer has a length that is none");
    framing.length = length;
  } else if (name === "transfer-encoding") {
    const codings = value.split(",").map((one) => trimmed(one, 0, one.length).toLowerCase());
    if (!codings.every((coding) => TRANSFER_CODINGS.has(coding)))
      throw httpFault("the answer is encoded for transfer in a way that nobody asked for");
    framing.isEncoded = true;
    framing.isChunked = codings.at(-1) === "chunked";
  } else if (name === "connection") {
    framing.isClosed ||= /\bclose\b/i.test(value);
    framing.isKept ||= /\bkeep-alive\b/i.test(value);
  } else if (name === "keep-alive") {
    const [, seconds] = /\btimeout=(\d{1,9})/i.exec(value) ?? [];
    framing.keptMs = seconds === undefined ? undefined : Number(seconds) * 1000;
  }
}

/** A value without the blanks around it: other white space is part of it. */
function trimmed(text: string, start: number, end: number): string {
  let [from, to] = [start, end];
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Headers as they came: lines `Name: value`, CR, LF. Looked through when somebody asks: most answers are judged by their status. */
export class HeaderBlock {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The first value of a header, which is named in lower case. */
  first(name: string): string | undefined {
    const at = this.#find(name, 0);
    return at === -1 ? undefined : this.#valueAt(at, name);
  }

  /** All values of a header, joined by commas. */
  joined(name: string): string | undefined {
    let value: string | undefined;
    for (let at = this.#find(name, 0); at !== -1; at = this.#find(name, at + name.length)) {
      const own = this.#valueAt(at, name);
      value = value === undefined ? own : `${value}, ${own}`;
    }
    return value;
  }

  /** Where the next line from here on begins that has a name. */
  #find(name: string, from: number): number {
    const { text } = this;
    let at = from === 0 ? 0 : text.indexOf("\n", from) + 1;
    while (at < text.length) {
      const colon = at + name.length;
      if (text.charCodeAt(colon) === COLON && text.slice(at, colon).toLowerCase() === name)
        return at;
      at = text.indexOf("\n", at) + 1;
    }
    return -1;
  }

  #valueAt(at: number, name: string): string {
    const start = at + name.length + 1;
    return trimmed(this.text, start, this.text.indexOf("\r", start));
  }

  *[Symbol.iterator](): Generator<[name: string, value: string], void, undefined> {
    const { text } = this;
    for (let at = 0; at < text.length;) {
      const colon = text.indexOf(":", at);
      const end = text.indexOf("\r\n", colon);
      yield [text.slice(at, colon), trimmed(text, colon + 1, end)];
      at = end + 2;
    }
  }
}
