import type { FailureReason } from "../../http/failure-reason.ts";
import type { HttpHeaders } from "../../http/http-client.ts";

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

/** Sends requests. */
export interface Network {
  /** May call the receiver before it returns. */
  send(request: NetworkRequest, receiver: AnswerReceiver): Exchange;
  close(): Promise<void>;
}
