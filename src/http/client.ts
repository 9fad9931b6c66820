import { MementoMapError } from "../errors.ts";
import { type codingOf, decoded } from "./body-decoder.ts";
import type { Exchange } from "./exchange.ts";
import type { ResponseHead } from "./http-client.ts";

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
  /** Cuts all connections, also those that are kept for later; what is in flight fails. */
  close(): void;
}

/** Bytes that a compressed body may become at once, whatever their number when compressed. */
const UNSUSPICIOUS_BYTES = 16 * 2 ** 20;
/** TimeMaps are compressed to a tenth or a thirtieth. */
const MAX_RATIO = 200;
/** A body that is not wanted is read up to this size to keep the connection; beyond, the connection is closed. */
const DRAINED_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/** Reads what is not wanted, to keep the connection. */
export async function drain(exchange: Exchange): Promise<void> {
  exchange.failAfter(DRAIN_MS, "nobody wanted it for");
  let bytes = 0;
  try {
    while (bytes <= DRAINED_BYTES) {
      const chunk = await exchange.next();
      if (chunk === undefined) return;
      bytes += chunk.length;
    }
  } catch {
    // The head is all that was wanted.
  }
}

/**
 * Gives a body to a sink, decompressed.
 *
 * @throws MM_LIMIT for one that is too long, or becomes so.
 */
export async function readBody(
  exchange: Exchange,
  coding: ReturnType<typeof codingOf>,
  maxBytes: number,
  sink: (chunk: Uint8Array) => void,
): Promise<void> {
  if (coding === "unknown") {
    const message = "it is compressed by a coding that was not asked for";
    throw new MementoMapError("MM_HTTP", message, { reason: "bad-encoding" });
  }
  let sent = 0;
  let length = 0;
  // Generators for each chunk would double the time that a short answer takes.
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
  const message = `the body becomes more than ${MAX_RATIO} times as long when it is decompressed`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}
