import { asError, MementoMapError } from "../errors.ts";
import { BodyDecoder, codingOf, type DecodedReceiver } from "./body-decoder.ts";
import { type AnswerHead, type AnswerReceiver, Exchange } from "./client-exchange.ts";
import type { Connections } from "./connections.ts";
import type { HttpHeaders } from "./http-client.ts";
import { isRedirect, MAX_REDIRECTS, RedirectTrail } from "./redirects.ts";

/** What to get. */
export interface GetRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default true; else a redirect is an answer like any other. */
  readonly followsRedirects?: boolean | undefined;
  /** Bytes of the body, as sent and decompressed. */
  readonly maxBytes: number;
  /** How long an answer may take to begin. */
  readonly headersTimeoutMs: number;
  /** When the whole answer has to be there, with all redirects; by `performance.now()`. */
  readonly until: number;
}

/** The start of an answer. */
export interface ResponseHead {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: HttpHeaders;
}

/** Takes the body of an answer, decompressed, as it comes; undefined where the body is not wanted. */
export type TakeBody = (head: ResponseHead) => ((chunk: Uint8Array) => void) | undefined;

/** Gets answers over connections that are checked: what archives are asked by. */
export interface Client {
  /**
   * Follows redirects; gives answers of any status. Resolves when the wanted body has come.
   *
   * @throws MM_HTTP when there is no whole answer in time, MM_LIMIT for a body that is too long, MM_REFUSED for a
   *   private address or a forbidden redirect, MM_BAD_URI; what the taker throws.
   */
  get(request: GetRequest, take: TakeBody): Promise<ResponseHead>;
  /** Cuts all connections; what is in flight fails. */
  close(): Promise<void>;
}

/** Bytes that a compressed body may become at once, whatever their number when compressed. */
const UNSUSPICIOUS_BYTES = 16 * 2 ** 20;
/** TimeMaps are compressed to a tenth or a thirtieth. */
const MAX_RATIO = 200;
/** A body that is not wanted is read up to this size to keep the connection; beyond, the connection is closed. */
const DRAINED_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/** {@link Client} over the network. */
export class NetworkClient implements Client {
  readonly #connections: Connections;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with every request. */
  constructor(connections: Connections, headers: Readonly<Record<string, string>>) {
    this.#connections = connections;
    this.#headers = headers;
  }

  async get(request: GetRequest, take: TakeBody): Promise<ResponseHead> {
    const { followsRedirects = true } = request;
    let trail: RedirectTrail | undefined;
    for (let url = request.url; ;) {
      const head = await this.#getOnce({ ...request, url }, take);
      const location = head.headers.get("location");
      if (!followsRedirects || !isRedirect(head.status) || typeof location !== "string") {
        return head;
      }
      trail ??= new RedirectTrail(MAX_REDIRECTS);
      url = trail.follow(url, location);
    }
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  #getOnce(request: GetRequest, take: TakeBody): Promise<ResponseHead> {
    return new Promise((resolve, reject) => {
      const headers = { ...this.#headers, ...request.headers };
      new Download(request, take, { resolve, reject }).begin(this.#connections, headers);
    });
  }
}

/** One answer. Holds what the decoder holds. */
class Download implements AnswerReceiver, DecodedReceiver {
  readonly #request: GetRequest;
  readonly #take: TakeBody;
  readonly #settle: { resolve(head: ResponseHead): void; reject(error: Error): void };
  readonly #leftMs: number;
  #exchange: Exchange | undefined;
  #timer: NodeJS.Timeout | undefined;
  #head: ResponseHead | undefined;
  #sink: ((chunk: Uint8Array) => void) | undefined;
  #decoder: BodyDecoder | undefined;
  /** As sent, and decompressed. */
  #sent = 0;
  #decoded = 0;
  #isDone = false;

  constructor(
    request: GetRequest,
    take: TakeBody,
    settle: { resolve(head: ResponseHead): void; reject(error: Error): void },
  ) {
    this.#request = request;
    this.#take = take;
    this.#settle = settle;
    this.#leftMs = request.until - performance.now();
  }

  begin(connections: Connections, headers: Readonly<Record<string, string>>): void {
    const { url, headersTimeoutMs } = this.#request;
    this.#exchange = new Exchange(connections, { url, method: "GET", headers }, this);
    this.#exchange.begin();
    if (this.#isDone || this.#head !== undefined) return;
    const firstMs = Math.min(headersTimeoutMs, this.#leftMs);
    this.#failAfter(firstMs, `no answer within ${seconds(firstMs)}`);
  }

  onHead({ status, headers }: AnswerHead): void {
    const { url, until, followsRedirects = true } = this.#request;
    const head = { status, url, headers };
    this.#head = head;
    this.#failAfter(until - performance.now(), `no whole answer within ${seconds(this.#leftMs)}`);
    const isFollowed = followsRedirects && isRedirect(status);
    this.#sink = isFollowed && headers.get("location") !== undefined ? undefined : this.#take(head);
    if (this.#sink === undefined) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.onDecodedEnd(), DRAIN_MS);
      return;
    }
    const coding = codingOf(headers.get("content-encoding") ?? undefined);
    if (coding === "unknown")
      throw badEncoding("it is compressed by a coding that was not asked for");
    if (coding !== undefined) this.#decoder = new BodyDecoder(coding, this);
  }

  onChunk(chunk: Uint8Array): void {
    this.#sent += chunk.length;
    if (this.#sink === undefined) {
      if (this.#sent > DRAINED_BYTES) this.onDecodedEnd();
      return;
    }
    if (this.#decoder === undefined) this.onDecoded(chunk);
    else if (this.#sent > this.#request.maxBytes) this.#fail(tooLong(this.#request.maxBytes));
    else if (!this.#decoder.write(chunk)) this.#exchange?.pause();
  }

  onEnd(): void {
    if (this.#decoder === undefined) this.onDecodedEnd();
    else this.#decoder.end();
  }

  onFail(error: MementoMapError): void {
    if (this.#head !== undefined && this.#sink === undefined) this.onDecodedEnd();
    else this.#fail(error);
  }

  onDecoded(chunk: Uint8Array): void {
    if (this.#isDone) return;
    const { maxBytes } = this.#request;
    this.#decoded += chunk.length;
    const isBomb = this.#decoded > UNSUSPICIOUS_BYTES && this.#decoded > this.#sent * MAX_RATIO;
    if (isBomb || this.#decoded > maxBytes) {
      const rest = chunk.length - (this.#decoded - maxBytes);
      if (rest > 0 && !isBomb) this.#sink?.(chunk.subarray(0, rest));
      this.#fail(isBomb ? bomb() : tooLong(maxBytes));
      return;
    }
    try {
      this.#sink?.(chunk);
    } catch (error) {
      this.#fail(asError(error));
    }
  }

  onDecodedEnd(): void {
    if (this.#isDone) return;
    const head = this.#head;
    this.#finish();
    if (head !== undefined) this.#settle.resolve(head);
  }

  onUndecodable(cause: Error): void {
    this.#fail(badEncoding("the body cannot be decompressed", cause));
  }

  onDecoderReady(): void {
    this.#exchange?.resume();
  }

  #failAfter(leftMs: number, message: string): void {
    clearTimeout(this.#timer);
    // Timers of one duration are cheap, each other duration takes a list of its own.
    const ms = leftMs > 5000 ? Math.ceil(leftMs / 1000) * 1000 : leftMs;
    const position = { source: this.#request.url };
    const fail = (): void =>
      this.#fail(new MementoMapError("MM_HTTP", message, { position, reason: "timeout" }));
    this.#timer = setTimeout(fail, Math.max(0, ms));
  }

  #fail(error: Error): void {
    if (this.#isDone) return;
    this.#finish();
    this.#settle.reject(error);
  }

  #finish(): void {
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#decoder?.stop();
    this.#exchange?.abort();
  }
}

/** With two digits at most: the time that is left is some microseconds less than what was given. */
function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 10) / 100)} s`;
}

function tooLong(maxBytes: number): MementoMapError {
  const message = `the body is longer than ${maxBytes} bytes`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

function bomb(): MementoMapError {
  const message = `the body becomes more than ${MAX_RATIO} times as long when it is decompressed`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

function badEncoding(message: string, cause?: Error): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { cause, reason: "bad-encoding" });
}
