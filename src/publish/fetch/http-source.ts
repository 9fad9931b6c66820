import { MementoMapError } from "../../errors.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import {
  bodyStart,
  type HttpClient,
  httpFailure,
  httpRefusal,
  type HttpResponse,
} from "../../http/http-client.ts";
import { interruptible } from "../../interruption.ts";

const FIRST_BYTES = 32_768;

/**
 * A map on a server, read by HTTP `Range` requests: lookups without a download.
 *
 * Every part is verified to be of the version that was opened. Holds the first block.
 */
export class HttpSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  /** Number of requests, and bytes of the map received. */
  readonly traffic: { requests: number; bytes: number };
  readonly #client: HttpClient;
  readonly #etag: string;
  readonly #start: Uint8Array;
  /** Headers of every request. */
  readonly #headers: Headers;

  private constructor(
    client: HttpClient,
    { url, headers }: HttpResponse,
    first: { readonly size: number; readonly start: Uint8Array; readonly headers: Headers },
  ) {
    this.name = url;
    this.#client = client;
    this.size = first.size;
    this.#etag = headers.get("etag") ?? "";
    this.#start = first.start;
    this.#headers = first.headers;
    this.traffic = { requests: 1, bytes: first.start.length };
  }

  /**
   * Requests the beginning of a map.
   *
   * @throws MM_REFUSED when the server does not support range requests, or sends no strong tag to
   *   detect changes; MM_HTTP, MM_INTERRUPTED.
   */
  static open(
    client: HttpClient,
    url: string,
    signal?: AbortSignal,
    headers: Headers = {},
  ): Promise<HttpSource> {
    return interruptible(signal, async () => {
      const response = await requestPart(client, url, rangeOf(0, FIRST_BYTES, headers), signal);
      const { status } = response;
      if (status !== 206) {
        await response.discard();
        throw status === 200
          ? httpRefusal(
              url,
              "the server does not answer range requests; fetch the whole map instead",
            )
          : httpFailure(url, `the server answered with status ${status}`);
      }
      const { size } = contentRange(response, url);
      const start = await bodyStart(response, FIRST_BYTES);
      if (response.headers.get("etag")?.startsWith('"') !== true) {
        const message = "the server sends no strong ETag, so changes could not be detected";
        throw httpRefusal(url, message);
      }
      return new HttpSource(client, response, { size, start, headers });
    });
  }

  /** @throws MM_IO when the map changed meanwhile; MM_HTTP, MM_INTERRUPTED. */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    return interruptible(signal, () => this.#read(offset, length, signal));
  }

  async #read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const wanted = Math.min(length, this.size - offset);
    if (wanted <= 0) return new Uint8Array(0);
    if (offset + wanted <= this.#start.length) return this.#start.subarray(offset, offset + wanted);
    this.traffic.requests += 1;
    const headers = rangeOf(offset, wanted, this.#headers);
    const response = await requestPart(this.#client, this.name, headers, signal);
    if (!this.#isSameVersion(response, offset)) {
      await response.discard();
      throw new MementoMapError("MM_IO", "the map changed while it was read; try again", {
        position: { source: this.name },
      });
    }
    const bytes = await bodyStart(response, wanted);
    this.traffic.bytes += bytes.length;
    return bytes;
  }

  #isSameVersion(response: HttpResponse, offset: number): boolean {
    if (response.status !== 206 || response.headers.get("etag") !== this.#etag) return false;
    const { start, size } = contentRange(response, this.name);
    return start === offset && size === this.size;
  }
}

type Headers = Readonly<Record<string, string>>;

function rangeOf(offset: number, length: number, headers: Headers): Headers {
  const range = `bytes=${offset}-${offset + length - 1}`;
  return { ...headers, Range: range, "Accept-Encoding": "identity" };
}

function requestPart(
  client: HttpClient,
  url: string,
  headers: Headers,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  // A browser may have another representation cached, and would cut the part from that.
  return client.request(url, { headers, cache: "no-store", signal });
}

/** The start of a part, and the size of the whole. */
function contentRange(response: HttpResponse, url: string): { start: number; size: number } {
  const header = response.headers.get("content-range") ?? "";
  const [, start, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(header) ?? [];
  if (start !== undefined && size !== undefined) {
    return { start: Number(start), size: Number(size) };
  }
  throw httpRefusal(url, "the server sent a partial response without a valid Content-Range");
}
