import { bodyChunks } from "./http-client.ts";
import type { HttpRequest, Reply } from "./reply.ts";

/**
 * What servers other than `node:http` tell about a client beside its `Request`: an address, Bun's server,
 * or what Deno says about the connection. Without an address requests count towards no rate limit.
 */
export interface FetchClient {
  /** The address of the connection. */
  readonly address?: unknown;
  requestIP?(request: Request): { readonly address: string } | null;
  readonly remoteAddr?: { readonly hostname?: string } | undefined;
}

function addressOf(request: Request, client: FetchClient): string {
  // Bun's server has an `address` too: where it listens.
  if (typeof client.requestIP === "function") return client.requestIP(request)?.address ?? "";
  return typeof client.address === "string" ? client.address : (client.remoteAddr?.hostname ?? "");
}

/** A `Request` as servers of the web platform give it to their handlers. */
export class WebRequest implements HttpRequest {
  readonly httpVersion = "1.1";
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http" | "https";
  readonly remoteAddress: string;
  readonly #request: Request;

  constructor(request: Request, client: FetchClient = {}) {
    const [, scheme = "", host = "", target = ""] = WEB_URL.exec(request.url) ?? [];
    this.#request = request;
    this.target = target;
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.protocol = scheme === "https" ? "https" : "http";
    this.remoteAddress = addressOf(request, client);
  }

  get method(): string {
    return this.#request.method;
  }

  get isAborted(): boolean {
    return this.#request.signal.aborted;
  }

  body(): AsyncIterable<Uint8Array> {
    return bodyChunks(this.#request.body);
  }
}

/** Scheme, host, and path with query. A fragment is not part of what is asked for. */
const WEB_URL = /^(https?):\/\/([^/?#]*)([^#]*)/i;

/** How the sending of a `Response` ended. */
export interface Sent {
  readonly bytes: number;
  /** What the body failed with. */
  readonly error?: unknown;
}

/**
 * Makes a `Response` of a reply. `onEnd` is called once its body has been read, or will not be.
 *
 * Holds one chunk, which is read when the server asks for it.
 */
export function webResponse(reply: Reply, onEnd: (sent: Sent) => void): Response {
  const { status, headers, body, release } = reply;
  const end = async (sent: Sent): Promise<void> => {
    onEnd(sent);
    await release?.();
  };
  if (typeof body === "object" && !(body instanceof Uint8Array)) {
    return new Response(bodyStream(body, end), { status, headers });
  }
  void end({ bytes: body === undefined ? 0 : Buffer.byteLength(body) });
  return new Response(typeof body === "object" ? Buffer.from(body) : (body ?? null), {
    status,
    headers,
  });
}

function bodyStream(
  chunks: AsyncIterable<Uint8Array>,
  end: (sent: Sent) => Promise<void>,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let bytes = 0;
  let isCancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await iterator.next().catch(async (error: unknown) => {
          if (!isCancelled) await end({ bytes, error });
          throw error;
        });
        if (isCancelled) return;
        if (next.done === true) {
          await end({ bytes });
          controller.close();
          return;
        }
        bytes += next.value.length;
        controller.enqueue(next.value.slice());
      },
      async cancel() {
        isCancelled = true;
        await iterator.return?.();
        await end({ bytes });
      },
    },
    { highWaterMark: 0 },
  );
}
