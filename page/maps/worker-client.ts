import { proxy, type Remote, wrap } from "comlink";
import type { MapWorker, OnProgress } from "./map-worker.ts";
// oxlint-disable-next-line import/default -- the bundler exports its URL
import workerUrl from "./map-worker.ts?worker&url";

interface Started {
  readonly worker: Remote<MapWorker>;
  /** Rejects when the worker crashes: pending calls never settle then. */
  readonly failure: Promise<never>;
}

let started: Started | undefined;

/** Calls the worker, which is started on first use. */
export function inWorker<Result>(
  call: (worker: Remote<MapWorker>) => Promise<Result>,
): Promise<Result> {
  started ??= start();
  return Promise.race([call(started.worker), started.failure]);
}

function start(): Started {
  const worker = new Worker(workerAddress(), { type: "module" });
  const failure = new Promise<never>((_, reject) => {
    worker.addEventListener("error", ({ message }) =>
      reject(new Error(message || "the worker failed")),
    );
  });
  return { worker: wrap<MapWorker>(worker), failure };
}

/** Browsers reject cross-origin workers, as with elements on third-party pages; a local one that imports it works. */
function workerAddress(): string {
  const { href, origin } = new URL(workerUrl, window.location.href);
  if (origin === window.location.origin) return href;
  const script = `import ${JSON.stringify(href)};`;
  return URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
}

type OpenedMap = ReturnType<MapWorker["open"]>;

export function openInWorker(
  id: string,
  source: File | string,
  onProgress: OnProgress = () => undefined,
): OpenedMap {
  return inWorker((worker) => worker.open(id, source, proxy(onProgress)));
}

const opened = new Map<string, OpenedMap>();

/** Opens the map at an address on first use. */
export function openOnce(id: string, address: string, onProgress?: OnProgress): OpenedMap {
  const opening = opened.get(id) ?? openInWorker(id, address, onProgress);
  opened.set(id, opening);
  opening.catch(() => opened.delete(id));
  return opening;
}
