import type { FailureReason } from "./retry.ts";
import type { HttpHeaders } from "./http-client.ts";

/** The start of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: AnswerHeaders;
}

/** The headers of an answer; those that came over the network can be had as they came. */
export interface AnswerHeaders extends HttpHeaders {
  /** All fields as they are sent, a line each: `Name: value`, CR, LF. */
  toBlock?(): string;
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
  /** Whether the body comes as sent; default decompressed. */
  readonly isBodyAsSent?: boolean;
}

/** A body that is not wanted is read up to this size to keep the connection; beyond, the connection is closed. */
export const DRAINED_BYTES = 64 * 1024;
