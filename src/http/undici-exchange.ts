import type { Dispatcher } from "undici";
import type { FailureReason } from "./retry.ts";
import { COLON } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import { type Proxy, proxyAnswered } from "./proxy.ts";
import { BodyDecoder, codingOf, type DecodedReceiver } from "./body-decoder.ts";
import {
  type AnswerHeaders,
  type AnswerReceiver,
  DRAINED_BYTES,
  type Exchange,
  type NetworkRequest,
} from "./exchange.ts";
import { networkFailure } from "./network-failure.ts";
import { isRedirect, RedirectTrail } from "./redirects.ts";
import { type OriginPools, splitAddress } from "./origin-pools.ts";

const LENGTH_MISMATCH = "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";

/** Answers of status 1xx before the real one. */
const MAX_INTERIM = 20;

/**
 * One request, with the redirects it leads to, as a handler of undici.
 *
 * The path goes out byte for byte. Redirects are followed to public addresses and trusted origins
 * only, and bodies come decompressed, unless the request says otherwise. There is no timeout: the sender aborts a request that is late.
 *
 * It has the older of undici's two sets of callbacks: for the newer one undici makes an adapter
 * and an object of headers for every request.
 *
 * Everything here is called by sockets. What would be thrown to them would end the process, so that
 * any exception ends this request and nothing else.
 */
export class UndiciExchange implements Exchange, Dispatcher.DispatchHandler, DecodedReceiver {
  readonly #pools: OriginPools;
  readonly #request: NetworkRequest;
  readonly #receiver: AnswerReceiver;
  readonly #maxRedirects: number;
  #url: string;
  #trail: RedirectTrail | undefined;
  /** Where a redirect leads whose body is still coming. */
  #next: string | undefined;
  #isDone = false;
  #hasBody = true;
  #forwardedBy: Proxy | undefined;
  #interim = 0;
  #bytes = 0;
  #decodedBytes = 0;
  #decoder: BodyDecoder | undefined;
  #abortHop: ((error?: Error) => void) | undefined;
  #resumeHop: (() => void) | undefined;

  constructor(
    pools: OriginPools,
    request: NetworkRequest,
    receiver: AnswerReceiver,
    maxRedirects: number,
  ) {
    this.#pools = pools;
    this.#request = request;
    this.#receiver = receiver;
    this.#maxRedirects = maxRedirects;
    this.#url = request.url;
  }

  begin(): void {
    const { method } = this.#request;
    try {
      const { origin, path } = splitAddress(this.#url);
      const { pool, forwardedBy } = this.#pools.poolOf(origin, this.#url);
      this.#forwardedBy = forwardedBy;
      // undici does not write to the array.
      const headers = this.#request.headers as string[];
      if (forwardedBy === undefined) {
        pool.dispatch({ path, method, headers }, this);
      } else {
        const { authorization } = forwardedBy;
        const more = authorization === undefined ? [] : ["proxy-authorization", authorization];
        pool.dispatch({ path: origin + path, method, headers: [...headers, ...more] }, this);
      }
    } catch (error) {
      this.#failWith(error);
    }
  }

  resume(): void {
    if (this.#isDone) return;
    if (this.#decoder !== undefined) this.#decoder.resume();
    // Not at once: undici's parser must not be within another answer.
    if (this.#resumeHop !== undefined) queueMicrotask(() => this.#resumeLater());
  }

  abort(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    try {
      this.#decoder?.stop();
      this.#abortHop?.();
    } catch {
      // What cannot be stopped is not listened to any more.
    }
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#isDone) abort();
    else this.#abortHop = abort;
  }

  onHeaders(status: number, fields: Buffer[], resume: () => void): boolean {
    if (this.#isDone) return true;
    try {
      return this.#takeHead(status, fields, resume);
    } catch (error) {
      return this.#failWith(error);
    }
  }

  #takeHead(status: number, fields: Buffer[], resume: () => void): boolean {
    if (status < 200) return this.#takeInterim();
    const { method, followsRedirects, isBodyAsSent } = this.#request;
    if (status === 407 && this.#forwardedBy !== undefined) {
      return this.#failWith(proxyAnswered(this.#forwardedBy, status));
    }
    if (followsRedirects && isRedirect(status)) {
      const location = fieldOf(fields, "location");
      if (location !== undefined) {
        this.#redirect(location);
        return true;
      }
    }
    this.#resumeHop = resume;
    this.#hasBody = method !== "HEAD" && status !== 204 && status !== 304;
    const encoding =
      this.#hasBody && isBodyAsSent !== true ? fieldOf(fields, "content-encoding") : undefined;
    const coding = encoding === undefined ? undefined : codingOf(encoding);
    if (coding === "unknown") {
      return this.#fail("bad-encoding", "it came in a coding that was not asked for");
    }
    if (coding !== undefined) this.#decoder = new BodyDecoder(coding, this);
    const headers = new RawHeaders(fields, coding !== undefined);
    this.#receiver.onHead({ status, url: this.#url, headers });
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#isDone) return true;
    try {
      return this.#takeData(chunk);
    } catch (error) {
      return this.#failWith(error);
    }
  }

  #takeData(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#next !== undefined) {
      if (this.#bytes > DRAINED_BYTES) this.#abortHop?.();
      return true;
    }
    if (this.#bytes > this.#request.maxBytes) return this.#failTooLong();
    if (this.#decoder !== undefined) return this.#decoder.write(chunk);
    return this.#receiver.onChunk(chunk);
  }

  onComplete(): void {
    this.#abortHop = undefined;
    if (this.#isDone) return;
    try {
      if (this.#next !== undefined) this.#follow();
      else if (this.#decoder !== undefined) this.#decoder.end();
      else this.onDecodedEnd();
    } catch (error) {
      this.#failWith(error);
    }
  }

  onError(error: Error): void {
    this.#abortHop = undefined;
    if (this.#isDone) return;
    // What becomes of the body of a redirect does not matter.
    if (this.#next !== undefined) this.#follow();
    // The length of an answer without a body is that of another answer, which undici misses.
    else if (!this.#hasBody && "code" in error && error.code === LENGTH_MISMATCH)
      this.onDecodedEnd();
    else this.#failWith(error);
  }

  onDecoded(chunk: Uint8Array): boolean {
    if (this.#isDone) return true;
    this.#decodedBytes += chunk.length;
    try {
      if (this.#decodedBytes > this.#request.maxBytes) return this.#failTooLong();
      return this.#receiver.onChunk(chunk);
    } catch (error) {
      return this.#failWith(error);
    }
  }

  onDecodedEnd(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    try {
      this.#receiver.onEnd();
    } catch (error) {
      this.#report(error);
    }
  }

  onUndecodable(error: Error): void {
    this.#fail("bad-encoding", "the body cannot be decompressed", error);
  }

  onDecoderReady(): void {
    this.#resumeLater();
  }

  /** undici asserts what it takes for granted, also when the connection is gone by now. */
  #resumeLater(): void {
    if (this.#isDone) return;
    try {
      this.#resumeHop?.();
    } catch (error) {
      this.#failWith(error);
    }
  }

  /** Answers that announce another are few, if they are honest. */
  #takeInterim(): boolean {
    this.#interim += 1;
    if (this.#interim <= MAX_INTERIM) return true;
    return this.#fail(
      "bad-http",
      `it sent more than ${MAX_INTERIM} answers that only announce one`,
    );
  }

  #redirect(location: string): void {
    this.#trail ??= new RedirectTrail(this.#maxRedirects);
    try {
      this.#next = this.#trail.follow(this.#url, location);
    } catch (error) {
      this.#failWith(error);
    }
  }

  #follow(): void {
    this.#url = this.#next ?? this.#url;
    this.#next = undefined;
    this.#bytes = 0;
    this.#interim = 0;
    this.begin();
  }

  #failTooLong(): true {
    const { maxBytes } = this.#request;
    const message = `the body is longer than ${maxBytes} bytes`;
    return this.#failWith(
      new MementoMapError("MM_LIMIT", message, {
        position: { source: this.#url },
        reason: "body-limit",
      }),
    );
  }

  #fail(reason: FailureReason, message: string, cause?: unknown): true {
    const details = { position: { source: this.#url }, cause, reason };
    return this.#failWith(new MementoMapError("MM_HTTP", message, details));
  }

  /** Always true, for callbacks that say whether more may come: it may, nobody looks at it. */
  #failWith(caught: unknown): true {
    if (this.#isDone) return true;
    this.abort();
    this.#report(caught);
    return true;
  }

  #report(caught: unknown): void {
    const { reason, error } = networkFailure(caught, this.#url);
    try {
      this.#receiver.onFail(error, reason);
    } catch {
      // A receiver that fails to take a failure is ended by its deadline.
    }
  }
}

/** Headers as they came, decoded when somebody asks: most answers are judged by their status. */
class RawHeaders implements AnswerHeaders {
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

  /** As {@link fieldOf}. */
  get(name: string): string | undefined {
    return this.#isDecoded && ABOUT_CODING.has(name) ? undefined : fieldOf(this.#fields, name);
  }

  /** Not decoded one by one. */
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

const ABOUT_CODING: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);

/** Fields that have one value; of several, the first counts. */
const SINGLE: ReadonlySet<string> = new Set(
  "age content-length content-type etag expires last-modified location retry-after".split(" "),
);

/** The value of a header among names and values by turns; several are joined by commas. Characters stand for bytes. */
function fieldOf(fields: readonly Uint8Array[], name: string): string | undefined {
  let value: string | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at], name)) continue;
    const text = latin1(fields[at + 1]);
    if (SINGLE.has(name)) return text;
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
