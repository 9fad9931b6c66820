import type { FailureReason } from "../../http/retry.ts";
import type { HttpHeaders } from "../../http/http-client.ts";
import { COLON } from "../../bytes/bytes.ts";

/** The start of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: HttpHeaders;
}

/**
 * Takes an answer as it comes: `onHead`, then `onChunk` any number of times, then `onEnd`; or
 * `onFail` at any time, after which nothing is called.
 *
 * Callbacks and not promises: a request passes several of these, twelve thousand times a second.
 */
export interface AnswerReceiver {
  onHead(head: AnswerHead): void;
  /** Whether more may come at once; after false nothing comes until `resume`. */
  onChunk(chunk: Uint8Array): boolean;
  onEnd(): void;
  onFail(error: Error, reason: FailureReason): void;
}

/** A request under way. */
export interface Exchange {
  /** Lets a body go on that a receiver stopped. */
  resume(): void;
  /** Ends it. The receiver is not called any more. */
  abort(): void;
}

/** One request as it goes over the network. */
export interface NetworkRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD";
  /** Names and values by turns. */
  readonly headers: readonly string[];
  readonly followsRedirects: boolean;
  /** Bytes of the body, as sent and decompressed. */
  readonly maxBytes: number;
}

/** Headers as they came, decoded when somebody asks: most answers are judged by their status. */
export class RawHeaders implements HttpHeaders {
  readonly #fields: readonly Uint8Array[];
  readonly #isDecoded: boolean;

  /**
   * @param fields Names and values by turns.
   * @param isDecoded Whether the body is decompressed; its coding and length are then not shown.
   */
  constructor(fields: readonly Uint8Array[], isDecoded: boolean) {
    this.#fields = fields;
    this.#isDecoded = isDecoded;
  }

  /** All fields of a name, joined by commas. Characters stand for bytes. */
  get(name: string): string | undefined {
    return this.#isDecoded && ABOUT_CODING.has(name) ? undefined : fieldOf(this.#fields, name);
  }

  /** All fields as they are sent, a line each: `Name: value`, CR, LF. Not decoded one by one. */
  toBlock(): string {
    const fields = this.#fields;
    return this.#isDecoded || !isInOnePiece(fields) ? this.#joined() : blockOf(fields);
  }

  #joined(): string {
    let block = "";
    for (let at = 0; at + 1 < this.#fields.length; at += 2) {
      const name = latin1(this.#fields[at]);
      if (this.#isDecoded && ABOUT_CODING.has(name.toLowerCase())) continue;
      block += `${name}: ${latin1(this.#fields[at + 1])}\r\n`;
    }
    return block;
  }
}

/** Headers that were kept. */
export class RecordHeaders implements HttpHeaders {
  readonly #record: Readonly<Record<string, string>>;

  constructor(record: Readonly<Record<string, string>>) {
    this.#record = record;
  }

  get(name: string): string | undefined {
    return Object.hasOwn(this.#record, name) ? this.#record[name] : undefined;
  }
}

const ABOUT_CODING: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);

/** The value of a header among names and values by turns. */
export function fieldOf(fields: readonly Uint8Array[], name: string): string | undefined {
  let value: string | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at], name)) continue;
    const text = latin1(fields[at + 1]);
    value = value === undefined ? text : `${value}, ${text}`;
  }
  return value;
}

/** Whether fields lie in memory as they were sent, one after the other; most came so. */
function isInOnePiece(fields: readonly Uint8Array[]): boolean {
  const first = fields.at(0);
  const last = fields.at(-1);
  if (first === undefined || last === undefined || first.buffer !== last.buffer) return false;
  const afterName = first.byteOffset + first.length;
  if (last.byteOffset <= afterName) return false;
  return Buffer.from(first.buffer, afterName, 1)[0] === COLON;
}

function blockOf(fields: readonly Uint8Array[]): string {
  const [{ buffer, byteOffset }] = fields;
  const last = fields[fields.length - 1];
  const length = last.byteOffset + last.length - byteOffset;
  return `${Buffer.from(buffer, byteOffset, length).toString("latin1")}\r\n`;
}

/** Whether bytes are a name, which is in lower case, in any case. */
function isNamed(bytes: Uint8Array, name: string): boolean {
  if (bytes.length !== name.length) return false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const code = name.charCodeAt(at);
    if (byte !== code && !(byte >= 0x41 && byte <= 0x5a && byte + 0x20 === code)) return false;
  }
  return true;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
