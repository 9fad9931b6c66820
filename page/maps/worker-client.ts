// oxlint-disable-next-line import/default -- the bundler gives its address
import workerUrl from "./map-worker.ts?worker&url";
import type { WorkerAnswer, WorkerCall } from "./worker-messages.ts";

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((share: number) => void) | undefined;
}

let worker: Worker | undefined;
let calls = 0;
const waiting = new Map<number, Waiting>();

/** Asks the worker, which is started at the first call. */
export function callWorker<Result>(
  request: WorkerCall,
  onProgress?: (share: number) => void,
): Promise<Result> {
  worker ??= start();
  const call = ++calls;
  const answer = new Promise<unknown>((resolve, reject) => {
    waiting.set(call, { resolve, reject, onProgress });
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
  worker.postMessage({ ...request, call });
  return answer as Promise<Result>; // our own worker's
}

function start(): Worker {
  const started = new Worker(workerAddress(), { type: "module" });
  started.addEventListener("message", ({ data }: MessageEvent<WorkerAnswer>) => {
    const call = waiting.get(data.call);
    if (call === undefined) return;
    if ("progress" in data) {
      call.onProgress?.(data.progress);
      return;
    }
    waiting.delete(data.call);
    if ("error" in data) call.reject(new Error(data.error.message));
    else call.resolve(data.result);
  });
  started.addEventListener("error", (event) => {
    for (const call of waiting.values())
      call.reject(new Error(event.message || "the worker failed"));
    waiting.clear();
  });
  return started;
}

/** Browsers start no worker of another site, where an element is used there; one that imports it will do. */
function workerAddress(): string {
  const { href, origin } = new URL(workerUrl, window.location.href);
  if (origin === window.location.origin) return href;
  const script = `import ${JSON.stringify(href)};`;
  return URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
}
