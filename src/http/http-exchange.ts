import type { FailureReason } from "./retry.ts";
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
import type { Hop, ResponseHandler } from "./connection.ts";
import { type OriginPools, splitAddress } from "./origin-pools.ts";
import { hasBody, type HeaderBlock } from "./response-head.ts";

/** Answers of status 1xx before the real one. */
const MAX_INTERIM = 20;

/**
 * One request, with the redirects it leads to.
 *
 * The path goes out byte for byte. Redirects are followed to public addresses and trusted origins
 * only, and bodies come decompressed, unless the request says otherwise. There is no timeout: the sender aborts a request that is late.
 *
 * Everything here is called by sockets. What would be thrown to them would end the process, so that
 * any exception ends this request and nothing else.
 */
export class HttpExchange implements Exchange, ResponseHandler, DecodedReceiver {
  readonly #pools: OriginPools;
  readonly #request: NetworkRequest;
  readonly #receiver: AnswerReceiver;
  readonly #maxRedirects: number;
  #url: string;
  #trail: RedirectTrail | undefined;
  /** Where a redirect leads whose body is still coming. */
  #next: string | undefined;
  #isDone = false;
  #forwardedBy: Proxy | undefined;
  #interim = 0;
  #bytes = 0;
  #decodedBytes = 0;
  #decoder: BodyDecoder | undefined;
  /** What it is under way on. */
  #hop: Hop | undefined;

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

  get isUnwanted(): boolean {
    return this.#isDone;
  }

  begin(): void {
    const { method } = this.#request;
    try {
      const { origin: written, path } = splitAddress(this.#url);
      const { pool, origin, forwardedBy } = this.#pools.poolOf(written, this.#url);
      this.#forwardedBy = forwardedBy;
      const { headers } = this.#request;
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
    // Not at once: it may be told so by what it was just given.
    queueMicrotask(() => this.#resumeHop());
  }

  abort(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    try {
      this.#decoder?.stop();
      this.#hop?.abort(this);
    } catch {
      // What cannot be stopped is not listened to any more.
    }
  }

  onConnect(hop: Hop): void {
    if (this.#isDone) hop.abort(this);
    else this.#hop = hop;
  }

  onHead(status: number, fields: HeaderBlock): void {
    if (this.#isDone) return;
    try {
      this.#takeHead(status, fields);
    } catch (error) {
      this.#failWith(error);
    }
  }

  #takeHead(status: number, fields: HeaderBlock): void {
    const { method, followsRedirects, isBodyAsSent } = this.#request;
    if (status < 200) {
      this.#takeInterim();
      return;
    }
    if (status === 407 && this.#forwardedBy !== undefined) {
      this.#failWith(proxyAnswered(this.#forwardedBy, status));
      return;
    }
    if (followsRedirects && isRedirect(status)) {
      const location = fieldOf(fields, "location");
      if (location !== undefined) {
        this.#redirect(location);
        return;
      }
    }
    const isCoded = hasBody(method, status) && isBodyAsSent !== true;
    const encoding = isCoded ? fieldOf(fields, "content-encoding") : undefined;
    const coding = encoding === undefined ? undefined : codingOf(encoding);
    if (coding === "unknown") {
      this.#fail("bad-encoding", "it came in a coding that was not asked for");
      return;
    }
    if (coding !== undefined) this.#decoder = new BodyDecoder(coding, this);
    const headers = new ResponseHeaders(fields, coding !== undefined);
    this.#receiver.onHead({ status, url: this.#url, headers });
  }

  onData(chunk: Uint8Array): boolean {
    if (this.#isDone) return true;
    try {
      return this.#takeData(chunk);
    } catch (error) {
      return this.#failWith(error);
    }
  }

  #takeData(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#next !== undefined) {
      if (this.#bytes > DRAINED_BYTES) this.#hop?.abort(this);
      return true;
    }
    if (this.#bytes > this.#request.maxBytes) return this.#failTooLong();
    if (this.#decoder !== undefined) return this.#decoder.write(chunk);
    return this.#receiver.onChunk(chunk);
  }

  onComplete(): void {
    this.#hop = undefined;
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
    this.#hop = undefined;
    if (this.#isDone) return;
    // What becomes of the body of a redirect does not matter.
    if (this.#next !== undefined) this.#follow();
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
    this.#resumeHop();
  }

  #resumeHop(): void {
    if (!this.#isDone) this.#hop?.resume(this);
  }

  /** Answers that announce another are few, if they are honest. */
  #takeInterim(): void {
    this.#interim += 1;
    if (this.#interim <= MAX_INTERIM) return;
    this.#fail("bad-http", `it sent more than ${MAX_INTERIM} answers that only announce one`);
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

/** Headers as they came; of a body that is decompressed, without its coding and its length. */
class ResponseHeaders implements AnswerHeaders {
  readonly #fields: HeaderBlock;
  readonly #isDecoded: boolean;

  constructor(fields: HeaderBlock, isDecoded: boolean) {
    this.#fields = fields;
    this.#isDecoded = isDecoded;
  }

  /** As {@link fieldOf}. */
  get(name: string): string | undefined {
    return this.#isDecoded && ABOUT_CODING.has(name) ? undefined : fieldOf(this.#fields, name);
  }

  toBlock(): string {
    if (!this.#isDecoded) return this.#fields.text;
    let block = "";
    for (const [name, value] of this.#fields) {
      if (!ABOUT_CODING.has(name.toLowerCase())) block += `${name}: ${value}\r\n`;
    }
    return block;
  }
}

const ABOUT_CODING: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);

/** Fields that have one value; of several, the first counts. */
const SINGLE: ReadonlySet<string> = new Set(
  "age content-length content-type etag expires last-modified location retry-after".split(" "),
);

/** The value of a header; several are joined by commas. */
function fieldOf(fields: HeaderBlock, name: string): string | undefined {
  return SINGLE.has(name) ? fields.first(name) : fields.joined(name);
}
