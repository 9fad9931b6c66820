import { MementoMapError } from "../../errors.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { bodyStart, type HttpClient, type HttpResponse } from "../../http/http-client.ts";
import { interruptible } from "../../interruption.ts";

const FIRST_BYTES = 32_768;

/**
 * A map on a server, read in parts by HTTP `Range` requests: lookups without a download.
 *
 * `PagedSearch` searches it, and finds the right page where it is one of several. Every part is checked to be of the version
 * that was opened. Holds the first block.
 */
export class HttpSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  /** The `Link` header of the first response. */
  readonly link: string | undefined;
  /** How many requests were made, and how many bytes of the map came. */
  readonly traffic: { requests: number; bytes: number } = { requests: 1, bytes: 0 };
  readonly #client: HttpClient;
  readonly #etag: string;
  readonly #start: Uint8Array;

  private constructor(client: HttpClient, url: string, first: FirstPart) {
    this.name = url;
    this.#client = client;
    this.size = first.size;
    this.link = first.link;
    this.#etag = first.etag;
    this.#start = first.start;
    this.traffic.bytes = first.start.length;
  }

  /**
   * Asks for the beginning of a map.
   *
   * @throws MM_REFUSED when the server does not answer ranges, or gives no strong tag by which a
   *   change could be noticed; MM_HTTP, MM_INTERRUPTED.
   */
  static open(client: HttpClient, url: string, signal?: AbortSignal): Promise<HttpSource> {
    return interruptible(signal, () => HttpSource.#open(client, url, signal));
  }

  static async #open(client: HttpClient, url: string, signal?: AbortSignal): Promise<HttpSource> {
    const response = await ask(client, url, { offset: 0, length: FIRST_BYTES, signal });
    if (response.status !== 206) {
      await response.discard();
      throw response.status === 200
        ? refused(url, "the server does not answer range requests; fetch the whole map instead")
        : new MementoMapError("MM_HTTP", `the server answered with status ${response.status}`, {
            position: { source: url },
          });
    }
    const etag = response.headers.get("etag") ?? "";
    const { size } = contentRange(response, url);
    const start = await bodyStart(response, FIRST_BYTES);
    if (!etag.startsWith('"')) {
      throw refused(url, "the server gives no strong ETag, so that a change could not be noticed");
    }
    const link = response.headers.get("link") ?? undefined;
    return new HttpSource(client, response.url, { size, etag, start, link });
  }

  /** @throws MM_IO when the map changed meanwhile; MM_HTTP, MM_INTERRUPTED. */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    return interruptible(signal, () => this.#read(offset, length, signal));
  }

  async #read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const wanted = Math.min(length, this.size - offset);
    if (wanted <= 0) return new Uint8Array(0);
    if (offset + wanted <= this.#start.length) {
      return this.#start.subarray(offset, offset + wanted);
    }
    this.traffic.requests += 1;
    const response = await ask(this.#client, this.name, {
      offset,
      length: wanted,
      signal,
    });
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

interface FirstPart {
  readonly size: number;
  readonly etag: string;
  readonly start: Uint8Array;
  readonly link: string | undefined;
}

interface Part {
  readonly offset: number;
  readonly length: number;
  readonly signal: AbortSignal | undefined;
}

function ask(client: HttpClient, url: string, part: Part): Promise<HttpResponse> {
  return client.request(url, {
    headers: {
      Range: `bytes=${part.offset}-${part.offset + part.length - 1}`,
      "Accept-Encoding": "identity",
    },
    // A browser may hold another representation, which it would cut the part from.
    cache: "no-store",
    signal: part.signal,
  });
}

/** Where a part begins, and how large the whole is. */
function contentRange(response: HttpResponse, url: string): { start: number; size: number } {
  const header = response.headers.get("content-range") ?? "";
  const [, start, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(header) ?? [];
  if (start !== undefined && size !== undefined) {
    return { start: Number(start), size: Number(size) };
  }
  throw refused(url, "the server sent a part without saying which");
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source: url } });
}
