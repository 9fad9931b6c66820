import { MementoMapError } from "../errors.ts";
import { type codingOf, decoded } from "./body-decoder.ts";
import type { Exchange } from "./exchange.ts";
import type { ResponseHead } from "./http-client.ts";

/** A GET request. */
export interface GetRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default true; if false, a redirect is returned like any other response. */
  readonly followsRedirects?: boolean | undefined;
  /** Limit on the bytes of the body, both as sent and decompressed. */
  readonly maxBytes: number;
  /** Time limit for the response headers. */
  readonly headersTimeoutMs: number;
  /** Deadline for the whole response, including redirects, on the clock of `performance.now()`. */
  readonly until: number;
}

/** Returns the sink for the decompressed chunks of a body, or undefined to skip the body. */
export type TakeBody = (head: ResponseHead) => ((chunk: Uint8Array) => void) | undefined;

/** Queries archives over connections whose addresses are checked. */
export interface Client {
  /**
   * Follows redirects; returns responses of any status. Resolves when the body has been read or skipped.
   *
   * @throws MM_HTTP when the response is not complete in time, MM_LIMIT for a body that is too long, MM_REFUSED for a
   *   private address or a forbidden redirect, MM_BAD_URI; errors of the sink.
   */
  get(request: GetRequest, take: TakeBody): Promise<ResponseHead>;
  /** Closes all connections, including idle ones; requests in flight fail. */
  close(): void;
}

/** The compression ratio is not checked below this decompressed size. */
const UNSUSPICIOUS_BYTES = 16 * 2 ** 20;
/** TimeMaps compress 10:1 to 30:1. */
const MAX_RATIO = 200;
/** A skipped body up to this size is read, to reuse the connection; beyond it the connection is closed. */
const DRAINED_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/** Reads and discards a body, to reuse the connection. */
export async function drain(exchange: Exchange): Promise<void> {
  exchange.failAfter(DRAIN_MS, "unread body not complete within");
  let bytes = 0;
  try {
    while (bytes <= DRAINED_BYTES) {
      const chunk = await exchange.next();
      if (chunk === undefined) return;
      bytes += chunk.length;
    }
  } catch {
    // Only the head is needed.
  }
}

/**
 * Decompresses a body into a sink.
 *
 * @throws MM_LIMIT for a body that is too long, as sent or decompressed.
 */
export async function readBody(
  exchange: Exchange,
  coding: ReturnType<typeof codingOf>,
  maxBytes: number,
  sink: (chunk: Uint8Array) => void,
): Promise<void> {
  if (coding === "unknown") {
    const message = "unexpected Content-Encoding";
    throw new MementoMapError("MM_HTTP", message, { reason: "bad-encoding" });
  }
  let sent = 0;
  let length = 0;
  // A generator per chunk would double the time of a short response.
  const next = async (): Promise<Uint8Array | undefined> => {
    const chunk = await exchange.next();
    sent += chunk?.length ?? 0;
    if (coding !== undefined && sent > maxBytes) throw tooLong(maxBytes);
    return chunk;
  };
  const take = (chunk: Uint8Array): void => {
    length += chunk.length;
    if (length > UNSUSPICIOUS_BYTES && length > sent * MAX_RATIO) throw bomb();
    const rest = chunk.length - Math.max(0, length - maxBytes);
    if (rest > 0) sink(chunk.subarray(0, rest));
    if (length > maxBytes) throw tooLong(maxBytes);
  };
  if (coding === undefined) {
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) take(chunk);
  } else {
    for await (const chunk of decoded(next, coding)) take(chunk);
  }
}

function tooLong(maxBytes: number): MementoMapError {
  const message = `the body is longer than ${maxBytes} bytes`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

function bomb(): MementoMapError {
  const message = `the body expands more than ${MAX_RATIO} times when decompressed`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}
