import { bodyChunks } from "./http-client.ts";
import { type HttpRequest, isWhole, type Reply } from "./reply.ts";

/**
 * What servers other than `node:http` pass besides the `Request`: an address, Bun's server, or Deno's connection
 * info.
 * Without an address, requests are not rate limited.
 */
export interface FetchClient {
  /** The address of the connection. */
  readonly address?: unknown;
  requestIP?(request: Request): { readonly address: string } | null;
  readonly remoteAddr?: { readonly hostname?: string } | undefined;
}

function addressOf(request: Request, client: FetchClient): string {
  // Bun's server also has an `address`: its listening address.
  if (typeof client.requestIP === "function") return client.requestIP(request)?.address ?? "";
  return typeof client.address === "string" ? client.address : (client.remoteAddr?.hostname ?? "");
}

/** Adapts a `Request` of the web platform. */
export function webRequest(request: Request, client: FetchClient = {}): HttpRequest {
  const [, scheme = "", host = "", target = ""] = WEB_URL.exec(request.url) ?? [];
  return {
    method: request.method,
    target,
    headers: { host, ...Object.fromEntries(request.headers) },
    httpVersion: "1.1",
    protocol: scheme === "https" ? "https" : "http",
    remoteAddress: addressOf(request, client),
    get isAborted() {
      return request.signal.aborted;
    },
    body: () => bodyChunks(request.body),
  };
}

/** Scheme, host, and path with query, without the fragment. */
const WEB_URL = /^(https?):\/\/([^/?#]*)([^#]*)/i;

/** The outcome of sending a `Response`. */
export interface Sent {
  readonly bytes: number;
  /** The error of a failed body. */
  readonly error?: unknown;
}

/**
 * Converts a reply to a `Response`. `onEnd` is called once its body has been read or abandoned.
 *
 * Holds one chunk, read on demand.
 */
export function webResponse(reply: Reply, onEnd: (sent: Sent) => void): Response {
  const { status, headers, body, release } = reply;
  const end = async (sent: Sent): Promise<void> => {
    onEnd(sent);
    await release?.();
  };
  if (body !== undefined && !isWhole(body)) {
    return new Response(bodyStream(body, end), { status, headers });
  }
  void end({ bytes: body === undefined ? 0 : Buffer.byteLength(body) });
  const whole = typeof body === "object" ? Buffer.from(body) : (body ?? null);
  return new Response(whole, { status, headers });
}

function bodyStream(
  chunks: AsyncIterable<Uint8Array>,
  end: (sent: Sent) => Promise<void>,
): ReadableStream<Uint8Array> {
  const counted = countedChunks(chunks, end);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await counted.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await counted.return();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* countedChunks(
  chunks: AsyncIterable<Uint8Array>,
  end: (sent: Sent) => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  let failure: Pick<Sent, "error"> = {};
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk.slice();
    }
  } catch (error) {
    failure = { error };
    throw error;
  } finally {
    await end({ bytes, ...failure });
  }
}
