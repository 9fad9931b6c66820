import { MementoMapError, quote } from "../errors.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "./http-client.ts";
import { checkSignal, interruptibleChunks } from "../interruption.ts";

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
      body: interruptibleChunks(chunksOf(body), signal),
      discard: async () => {
        // Cancelling is refused while it is read, and needless after.
        if (body !== null && !body.locked) await body.cancel();
      },
    };
  }
}

/** Not all browsers can iterate over a stream. */
async function* chunksOf(body: Response["body"]): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
    reader.releaseLock();
  }
}
