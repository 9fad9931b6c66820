import { joinBytes, recognizeCompression } from "../bytes/bytes.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { streamChunks } from "../bytes/stream-chunks.ts";
import { MementoMapError } from "../errors.ts";
import type { HttpClient, HttpResponse } from "../http/http-client.ts";
import { checkSignal, interruptibleChunks } from "../interruption.ts";

/** Bytes in memory or in chunks, including web streams and Node streams. */
export type Bytes =
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>;

/**
 * An input: a `URL`, an `http:` or `https:` address, the path of a file (with `mementomap/node`), or
 * bytes. gzip and zstd are decompressed.
 */
export type Source = string | URL | Bytes;

/** The differences between browsers and Node. */
export interface Platform {
  /** A client for an address passed by the caller; `close` it after use. */
  readonly client: (address: URL) => { readonly client: HttpClient; readonly close: () => void };
  /**
   * The path of a `file:` URL.
   *
   * @throws MM_USAGE if it has none
   */
  filePath(url: URL): string;
  /** Opens a file for random access; undefined for compressed files and pipes. */
  openFile(path: string): Promise<OpenFile | undefined>;
  /** The bytes of a file from start to end, decompressed. */
  readFile(path: string, signal: AbortSignal | undefined): AsyncIterable<Uint8Array>;
  /** Decompresses gzip and zstd; other data is passed through. */
  decompress(chunks: AsyncIterable<Uint8Array>, name: string): AsyncIterable<Uint8Array>;
}

interface OpenFile extends ByteSource {
  close(): Promise<void>;
}

/** The place of a source. */
export type Place =
  | { readonly kind: "address"; readonly url: URL }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "bytes"; readonly bytes: Bytes };

/** Distinguishes addresses, paths and bytes. */
export function placeOf(platform: Platform, source: Source): Place {
  if (source instanceof URL) {
    return source.protocol === "file:"
      ? { kind: "file", path: platform.filePath(source) }
      : { kind: "address", url: source };
  }
  if (typeof source !== "string") return { kind: "bytes", bytes: source };
  return /^https?:\/\//i.test(source)
    ? { kind: "address", url: new URL(source) }
    : { kind: "file", path: source };
}

/** The name of a source in messages. */
export function nameOf(platform: Platform, source: Source): string {
  const place = placeOf(platform, source);
  if (place.kind === "address") return place.url.href;
  if (place.kind === "file") return place.path;
  return typeof File !== "undefined" && place.bytes instanceof File ? place.bytes.name : "memory";
}

/**
 * The bytes of a source from start to end, decompressed. Holds a chunk or two.
 *
 * @throws MM_IO, MM_HTTP, MM_BAD_INPUT for damaged compression; MM_INTERRUPTED
 */
export async function* chunksOf(
  platform: Platform,
  source: Source,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const place = placeOf(platform, source);
  const name = nameOf(platform, source);
  if (place.kind === "file") {
    yield* interruptibleChunks(platform.readFile(place.path, signal), signal);
  } else if (place.kind === "bytes") {
    const chunks = interruptibleChunks(storedChunks(place.bytes), signal);
    yield* platform.decompress(chunks, name);
  } else {
    const { client, close } = platform.client(place.url);
    try {
      const response = await client.request(place.url.href, { signal });
      await requireOk(response, name);
      yield* platform.decompress(interruptibleChunks(response.body, signal), name);
    } finally {
      close();
    }
  }
}

async function requireOk(response: HttpResponse, name: string): Promise<void> {
  if (response.status === 200) return;
  await response.discard();
  throw new MementoMapError("MM_HTTP", `the server answered with status ${response.status}`, {
    position: { source: name },
  });
}

/** All bytes of a source, decompressed; uncompressed bytes in memory are not copied. */
export async function bytesOf(
  platform: Platform,
  source: Source,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  checkSignal(signal);
  const held = source instanceof ArrayBuffer ? new Uint8Array(source) : source;
  if (held instanceof Uint8Array && recognizeCompression(held) === undefined) return held;
  const parts: Uint8Array[] = [];
  for await (const chunk of chunksOf(platform, source, signal)) parts.push(chunk);
  return joinBytes(parts);
}

async function* storedChunks(bytes: Bytes): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes instanceof Uint8Array) yield bytes;
  else if (bytes instanceof ArrayBuffer) yield new Uint8Array(bytes);
  else if (bytes instanceof Blob) yield* streamChunks(bytes.stream());
  else if (bytes instanceof ReadableStream) yield* streamChunks(bytes);
  else yield* bytes;
}

/** Read-ahead: in browsers, every read of a blob takes some milliseconds, however short. */
const AHEAD_BYTES = 2 ** 23;

/** A blob with random access. Buffers 8 MiB during sequential reads. */
export class BlobSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #blob: Blob;
  /** The read-ahead buffer and its offset. */
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  /** Where the last read ended. */
  #end = 0;

  constructor(blob: Blob, name: string) {
    this.#blob = blob;
    this.name = name;
    this.size = blob.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size);
    const isNext = offset === this.#end;
    this.#end = end;
    if (offset >= this.#start && end <= this.#start + this.#bytes.length) {
      return this.#bytes.slice(offset - this.#start, end - this.#start);
    }
    const until = isNext ? Math.max(end, offset + AHEAD_BYTES) : end;
    const bytes = new Uint8Array(await this.#blob.slice(offset, until).arrayBuffer());
    if (!isNext) return bytes;
    [this.#bytes, this.#start] = [bytes, offset];
    // A copy, so that a retained range does not retain the whole buffer.
    return bytes.slice(0, end - offset);
  }
}

/** A library function without its platform parameter. */
export type Bound<F> = F extends (platform: Platform, ...rest: infer A) => infer R
  ? (...rest: A) => R
  : never;

/** Binds a library function to a platform. */
export function bind<A extends unknown[], R>(
  platform: Platform,
  run: (platform: Platform, ...rest: A) => R,
): (...rest: A) => R {
  return (...rest) => run(platform, ...rest);
}
