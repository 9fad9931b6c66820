/*
 * Opens maps in a worker, so that the page stays fluid: files of the reader, and maps of a site of files. Nothing
 * is sent anywhere.
 */
import { isMementoMapError } from "../../src/errors.ts";
import { type MementoMap, openMapOn } from "../../src/library/open-map.ts";
import { recognizeCompression } from "../../src/bytes/bytes.ts";
import { WEB } from "../../src/library/web-platform.ts";
import { streamChunks } from "../../src/bytes/stream-chunks.ts";
import type { MapAbout, WorkerAnswer, WorkerRequest } from "./worker-messages.ts";

const maps = new Map<string, MementoMap>();

self.addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
  answer(data).then(
    (result) => post({ call: data.call, result }),
    (error: unknown) => post({ call: data.call, error: describe(error) }),
  );
});

function post(message: WorkerAnswer): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
  self.postMessage(message);
}

async function answer(request: WorkerRequest): Promise<unknown> {
  switch (request.kind) {
    case "open":
      return open(request);
    case "lookup":
      return mapOf(request.map).lookup(request.uri);
    case "explore":
      return mapOf(request.map).explore(request.options);
    case "compare": {
      const [first = "", ...others] = request.maps;
      const named = Object.fromEntries(others.map((id) => [id, mapOf(id)]));
      return mapOf(first).compare(first, named);
    }
    case "close": {
      const map = maps.get(request.map);
      maps.delete(request.map);
      return map?.close();
    }
  }
}

function mapOf(id: string): MementoMap {
  const map = maps.get(id);
  if (map === undefined) throw new Error("the map is not open");
  return map;
}

/** Opens a map, and reads it through, so that all that follows is quick. */
async function open(request: WorkerRequest & { kind: "open" }): Promise<MapAbout> {
  const { call, map: id, source } = request;
  let last = 0;
  const progress = (done: number, all: number): void => {
    const now = performance.now();
    if (now - last < 50) return;
    last = now;
    post({ call, progress: all === 0 ? 0 : Math.min(1, done / all) });
  };
  const file = typeof source === "string" ? await fetched(source, progress) : source;
  const plain = await decompressed(file, progress);
  const map = await openMapOn(WEB, counted(plain, file.name, progress), {});
  try {
    const holdings = await map.explore({ limit: 1 });
    const { name } = map.headers.meta;
    maps.set(id, map);
    return {
      name: typeof name === "string" ? name : null,
      archive: map.headers.id ?? null,
      rows: holdings.rows,
      isPacked: holdings.form === "packed",
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
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let done = 0;
  for await (const chunk of streamChunks(response.body)) {
    parts.push(new Uint8Array(chunk));
    done += chunk.length;
    progress(done, 2 * all);
  }
  return new File(parts, decodeURIComponent(address.slice(address.lastIndexOf("/") + 1)));
}

/** What a compressed file holds, as a blob: browsers keep large ones outside of memory. */
async function decompressed(file: File, progress: Progress): Promise<Blob> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (recognizeCompression(head) === undefined) return file;
  let done = 0;
  const stored = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of streamChunks(file.stream())) {
      done += chunk.length;
      progress(done, 2 * file.size);
      yield chunk;
    }
  };
  const blobs: Blob[] = [];
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let held = 0;
  for await (const chunk of WEB.decompress(stored(), file.name)) {
    parts.push(new Uint8Array(chunk));
    held += chunk.length;
    if (held < 2 ** 24) continue;
    blobs.push(new Blob(parts));
    parts = [];
    held = 0;
  }
  return new Blob([...blobs, ...parts]);
}

/** A blob that tells how far it was read. */
function counted(blob: Blob, name: string, progress: Progress): File {
  const file = new File([blob], name);
  const slice = (start = 0, end = blob.size): Blob => {
    progress(blob.size + end, 2 * blob.size);
    return blob.slice(start, end);
  };
  return Object.assign(file, { slice });
}

function describe(error: unknown): { message: string; code: string | null } {
  if (isMementoMapError(error)) return { message: error.describe(), code: error.code };
  return { message: error instanceof Error ? error.message : String(error), code: null };
}
