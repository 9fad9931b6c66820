import { joinBytes } from "../bytes/bytes.ts";
import { streamChunks } from "../bytes/stream-chunks.ts";
import { MementoMapError, quote } from "../errors.ts";
import { checkSignal, interruptibleChunks } from "../interruption.ts";

/** Options of a request. */
export interface HttpRequest {
  readonly method?: "GET" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** `no-store` bypasses the cache of a browser; other clients have none. */
  readonly cache?: "no-store" | undefined;
}

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number;
  /** The final URL, after redirects. */
  readonly url: string;
  readonly headers: HttpHeaders;
}

/** A response with a streamed body. Read the body to its end, or call `discard`. */
export interface HttpResponse extends ResponseHead {
  /** @throws MM_HTTP when the connection ends before the body does. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the rest of the body. */
  discard(): Promise<void>;
}

/** Response headers, by lower-case name. */
export interface HttpHeaders {
  get(name: string): string | null | undefined;
}

/** An HTTP client: `NodeClient`, a browser's `fetch`, or a test double. */
export interface HttpClient {
  /**
   * Follows redirects; returns responses of any status.
   *
   * @throws MM_HTTP when there is no response, MM_REFUSED for a forbidden address, MM_BAD_URI.
   */
  request(url: string, request?: HttpRequest): Promise<HttpResponse>;
}

/** The error for a missing or unusable response. */
export function httpFailure(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { position: { source }, cause });
}

/** The error for a forbidden address or an unexpected response. */
export function httpRefusal(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source } });
}

/**
 * Reads the beginning of a body and drops the rest.
 *
 * Holds at most `maxBytes` and one chunk.
 */
export async function bodyStart(response: HttpResponse, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body) {
      parts.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } finally {
    await response.discard();
  }
  return joinBytes(parts).subarray(0, maxBytes);
}

/** A client over the `fetch` of browsers, which decompresses bodies and does not check addresses. */
export class FetchClient implements HttpClient {
  async request(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const { method = "GET", headers = {}, signal, cache = "default" } = request;
    // Browsers support `cache`; the types of Node lack it.
    const init: RequestInit & { cache: string } = {
      method,
      headers,
      cache,
      signal: signal ?? null,
    };
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      checkSignal(signal);
      throw new MementoMapError("MM_HTTP", `no response from ${quote(url)}; try again later`, {
        cause: error,
      });
    }
    const { body } = response;
    return {
      status: response.status,
      url: response.url,
      headers: response.headers,
      body: interruptibleChunks(bodyChunks(body), signal),
      discard: async () => {
        // A locked body cannot be cancelled while it is read; afterwards there is no need.
        if (body !== null && !body.locked) await body.cancel();
      },
    };
  }
}

/** The chunks of a body. */
export async function* bodyChunks(
  body: Response["body"],
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body !== null) yield* streamChunks(body);
}
