import type { Dispatcher } from "undici";
import { MementoMapError } from "../errors.ts";
import { type Connections, splitAddress } from "./connections.ts";
import type { HttpHeaders } from "./http-client.ts";
import { networkFailure } from "./network-failure.ts";
import { type Proxy, proxyAnswered } from "./proxy.ts";

/** Answers of status 1xx before the real one. */
const MAX_INTERIM = 20;

/** What is sent: no redirect is followed, and the body comes as sent. */
export interface ExchangeRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD";
  readonly headers: Readonly<Record<string, string>>;
}

/** The start of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: HttpHeaders;
}

/** Takes an answer: `onHead`, `onChunk` any number of times, `onEnd`; or `onFail` at any time, and nothing after it. */
export interface AnswerReceiver {
  onHead(head: AnswerHead): void;
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  onFail(error: MementoMapError): void;
}

type Controller = Dispatcher.DispatchController;

/**
 * One request and its answer.
 *
 * What a receiver throws ends the exchange and goes to its `onFail`. A request that was written to a connection which
 * the server had just closed is sent again, once.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #connections: Connections;
  readonly #request: ExchangeRequest;
  readonly #receiver: AnswerReceiver;
  #controller: Controller | undefined;
  #proxy: Proxy | undefined;
  #interim = 0;
  #status: number | undefined;
  #isSentAgain = false;
  #isDone = false;

  constructor(connections: Connections, request: ExchangeRequest, receiver: AnswerReceiver) {
    this.#connections = connections;
    this.#request = request;
    this.#receiver = receiver;
  }

  /** May call the receiver before it returns. */
  begin(): void {
    const { url, method, headers } = this.#request;
    try {
      const { origin, path } = splitAddress(url);
      this.#proxy = this.#connections.send({ origin, path, method, headers }, this).proxy;
    } catch (error) {
      this.#fail(error);
    }
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  /** Ends it; the receiver is not called any more. */
  abort(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#controller?.abort(ABORTED);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isDone) controller.abort(ABORTED);
  }

  onResponseStart(_controller: Controller, status: number, fields: Fields): void {
    if (this.#isDone) return;
    if (status < 200) {
      this.#interim += 1;
      const many = `it sent more than ${MAX_INTERIM} answers that only announce one`;
      if (this.#interim > MAX_INTERIM) this.#fail(badHttp(this.#request.url, many));
      return;
    }
    this.#status = status;
    if (status === 407 && this.#proxy !== undefined) {
      this.#fail(proxyAnswered(this.#proxy, status));
      return;
    }
    this.#tell(() => this.#receiver.onHead({ status, headers: new AnswerHeaders(fields) }));
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (!this.#isDone) this.#tell(() => this.#receiver.onChunk(chunk));
  }

  onResponseEnd(): void {
    if (this.#isDone) return;
    this.#tell(() => this.#receiver.onEnd());
    this.#isDone = true;
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#isDone) return;
    if (this.#status === 304 && isOfLength(error)) {
      this.onResponseEnd();
    } else if (this.#status === undefined && isOfLength(error)) {
      this.#fail(badHttp(this.#request.url, "the answer has several lengths"));
    } else if (this.#status === undefined && !this.#isSentAgain && wasConnectionUsed(error)) {
      this.#isSentAgain = true;
      this.begin();
    } else {
      this.#fail(error);
    }
  }

  #tell(what: () => void): void {
    try {
      what();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#isDone) return;
    this.abort();
    this.#receiver.onFail(networkFailure(error, this.#request.url).error);
  }
}

const ABORTED = new Error("the request was ended");

/** Whether a connection broke on which an answer had come before: servers close those that were not used for a while. */
function wasConnectionUsed(error: Error): boolean {
  const { socket } = error as { readonly socket?: { readonly bytesRead?: number } };
  return (socket?.bytesRead ?? 0) > 0;
}

/** Status 304 may have the length of the body that it does not send (RFC 9110, 8.6); undici does not know that. */
function isOfLength(error: Error): boolean {
  return "code" in error && error.code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";
}

function badHttp(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { position: { source }, reason: "bad-http" });
}

type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** Fields that have one value; of several, the first counts. */
const SINGLE: ReadonlySet<string> = new Set(
  "age content-length content-type etag expires last-modified location retry-after".split(" "),
);

/** Headers as they came; other fields that came several times are joined by commas. */
class AnswerHeaders implements HttpHeaders {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get(name: string): string | undefined {
    const value = this.#fields[name];
    if (!Array.isArray(value)) return value;
    return SINGLE.has(name) ? value[0] : value.join(", ");
  }
}
