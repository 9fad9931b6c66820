/*
 * Opens maps in a worker, so that the page stays responsive: local files, and the maps of a static site.
 * Nothing is uploaded.
 */
import { expose } from "comlink";
import { recognizeCompression } from "../../src/bytes/bytes.ts";
import { streamChunks } from "../../src/bytes/stream-chunks.ts";
import { isMementoMapError } from "../../src/errors.ts";
import { type MementoMap, openMapOn } from "../../src/library/open-map.ts";
import { WEB } from "../../src/library/web-platform.ts";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import type { SliceOptions } from "../../src/maps/explore/map-slice.ts";
import type { Holdings } from "./served-slice.ts";

export type OnProgress = (share: number) => void;

/** The calls of the worker. The page chooses the ids of maps. */
export interface MapWorker {
  open(id: string, source: File | string, onProgress: OnProgress): Promise<OpenedMap>;
  lookup(id: string, uri: string): Promise<Answer>;
  explore(id: string, options: SliceOptions): Promise<Holdings>;
  compare(ids: readonly string[]): Promise<MapComparison>;
}

interface OpenedMap {
  readonly name: string | null;
  readonly records: number;
  readonly isPacked: boolean;
}

const maps = new Map<string, MementoMap>();

const worker: MapWorker = {
  open: (...args) => plainly(open(...args)),
  lookup: (id, uri) => plainly(mapOf(id).lookup(uri)),
  explore: (id, options) => plainly(mapOf(id).explore(options)),
  compare: ([first = "", ...others]) => {
    const named = Object.fromEntries(others.map((id) => [id, mapOf(id)]));
    return plainly(mapOf(first).compare(first, named));
  },
};

expose(worker);

/** Completes error messages: only they reach the page. */
async function plainly<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw isMementoMapError(error) ? new Error(error.describe()) : error;
  }
}

function mapOf(id: string): MementoMap {
  const map = maps.get(id);
  if (map === undefined) throw new Error("the map is not open");
  return map;
}

/** Opens a map and reads it completely, so that later calls are fast. */
async function open(id: string, source: File | string, onProgress: OnProgress): Promise<OpenedMap> {
  let last = 0;
  const progress = (done: number, all: number): void => {
    const now = performance.now();
    if (now - last < 50) return;
    last = now;
    onProgress(all === 0 ? 0 : Math.min(1, done / all));
  };
  const file = typeof source === "string" ? await fetched(source, progress) : source;
  const plain = await decompressed(file, progress);
  const map = await openMapOn(WEB, counted(plain, file.name, progress), {});
  try {
    const { rows, form } = await map.explore({ limit: 1 });
    const { name } = map.headers.meta;
    maps.set(id, map);
    return {
      name: typeof name === "string" ? name : null,
      records: rows,
      isPacked: form === "packed",
    };
  } catch (error) {
    await map.close();
    throw error;
  }
}

type Progress = (done: number, all: number) => void;

async function fetched(address: string, progress: Progress): Promise<File> {
  const response = await fetch(address);
  if (!response.ok || response.body === null) {
    throw new Error(`${address}: ${response.status} ${response.statusText}`);
  }
  const all = Number(response.headers.get("content-length") ?? 0);
  const blob = await blobOf(counting(response.body, all, progress));
  return new File([blob], decodeURIComponent(address.slice(address.lastIndexOf("/") + 1)));
}

async function decompressed(file: File, progress: Progress): Promise<Blob> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (recognizeCompression(head) === undefined) return file;
  const stored = counting(file.stream(), file.size, progress);
  return blobOf(WEB.decompress(stored, file.name));
}

/** Browsers store large blobs on disk. */
function blobOf(chunks: AsyncIterable<Uint8Array>): Promise<Blob> {
  const iterator = chunks[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Response(stream).blob();
}

/** Reports a download as the first half of the progress. */
async function* counting(
  stream: ReadableStream<Uint8Array>,
  size: number,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const chunk of streamChunks(stream)) {
    done += chunk.length;
    progress(done, 2 * size);
    yield chunk;
  }
}

/** A file that reports how far it was read. */
function counted(blob: Blob, name: string, progress: Progress): File {
  const slice = (start = 0, end = blob.size): Blob => {
    progress(blob.size + end, 2 * blob.size);
    return blob.slice(start, end);
  };
  return Object.assign(new File([blob], name), { slice });
}
