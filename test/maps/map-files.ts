import { MemorySource } from "../../src/bytes/byte-source.ts";
import { mergeMaps, type MergeOptions } from "../../src/maps/merge-maps.ts";
import { mapBytes, PLAIN, type Row } from "../lookup/map-arbitraries.ts";

export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A sink that keeps everything, and checks that its writer waits. */
class KeepingSink {
  readonly #chunks: Uint8Array[] = [];
  #isBusy = false;

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isBusy) throw new Error("the writer did not wait");
    this.#isBusy = true;
    await Promise.resolve();
    this.#chunks.push(chunk);
    this.#isBusy = false;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(Buffer.concat(this.#chunks));
  }
}

/** Merges maps given as text. */
export function merged(...maps: readonly string[]): Promise<string> {
  return mergedWith({}, ...maps);
}

/** {@link merged} with options. */
export async function mergedWith(
  options: MergeOptions,
  ...maps: readonly string[]
): Promise<string> {
  const sink = new KeepingSink();
  const sources = maps.map((text, i) => new MemorySource(encode(text), `map ${i + 1}`));
  await mergeMaps(sources, sink, options);
  return decode(sink.bytes());
}

export function mapText(rows: readonly Row[], headers: readonly string[] = []): string {
  return decode(mapBytes(rows, { ...PLAIN, headers }));
}

/** Reads a stream to its end. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
