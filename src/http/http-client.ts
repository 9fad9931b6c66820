import { joinBytes } from "../bytes/bytes.ts";
import { streamChunks } from "../bytes/stream-chunks.ts";
import { MementoMapError, quote } from "../errors.ts";
import { checkSignal, interruptibleChunks } from "../interruption.ts";

/** What to ask for. */
export interface HttpRequest {
  readonly method?: "GET" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** `no-store` passes by the cache of a browser; others have none. */
  readonly cache?: "no-store" | undefined;
}

/** The start of an answer. */
export interface ResponseHead {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: HttpHeaders;
}

/** An answer whose body is still coming. Read the body to its end, or call `discard`. */
export interface HttpResponse extends ResponseHead {
  /** @throws MM_HTTP when the connection ends before the body does. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the rest of the body. */
  discard(): Promise<void>;
}

/** The headers of an answer, by lower-case name. */
export interface HttpHeaders {
  get(name: string): string | null | undefined;
}

/** Gets things by HTTP: `NodeClient`, a browser's `fetch`, a test. */
export interface HttpClient {
  /**
   * Follows redirects; gives answers of any status.
   *
   * @throws MM_HTTP when there is no answer, MM_REFUSED when it may not be asked for, MM_BAD_URI.
   */
  request(url: string, request?: HttpRequest): Promise<HttpResponse>;
}

/** The error about a server that gives no answer, or none that can be used. */
export function httpFailure(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { position: { source }, cause });
}

/** The error about a forbidden address, or an answer that was not asked for. */
export function httpRefusal(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source } });
}

/**
 * Reads the beginning of a body and drops the rest.
 *
 * Holds at most `mostBytes` and one chunk.
 */
export async function bodyStart(response: HttpResponse, mostBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body) {
      parts.push(chunk);
      length += chunk.length;
      if (length >= mostBytes) break;
    }
  } finally {
    await response.discard();
  }
  return joinBytes(parts).subarray(0, mostBytes);
}

/** The `fetch` of browsers as a client. It decompresses by itself, and checks no addresses. */
export class FetchClient implements HttpClient {
  async request(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const { method = "GET", headers = {}, signal, cache = "default" } = request;
    // Browsers know `cache`; the types of Node do not.
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
      throw new MementoMapError("MM_HTTP", `no answer from ${quote(url)}; try again later`, {
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
        // Cancelling is refused while it is read, and needless after.
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
