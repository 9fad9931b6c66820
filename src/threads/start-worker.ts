import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

let starting = 0;

/**
 * Starts a worker thread that optimises its functions itself, not in the background.
 *
 * Node 20 aborts (status 134) when a thread ends while one of its functions is optimised in the
 * background and that asks for a collection of garbage: the thread has left Node's platform by
 * then. One short `generate` in sixty was lost so, its map written and its summary printed. Where
 * all cores are busy nothing is lost by it: optimising takes the same time on either thread.
 */
export function startWorker(module: URL, data: unknown): Worker {
  // V8 reads the flag when a thread makes its heap, which is done before it is "online".
  if (starting === 0) setFlagsFromString("--no-concurrent-recompilation");
  starting += 1;
  let isStarting = true;
  const started = (): void => {
    if (!isStarting) return;
    isStarting = false;
    starting -= 1;
    if (starting === 0) setFlagsFromString("--concurrent-recompilation");
  };
  try {
    return new Worker(module, { workerData: data }).once("online", started).once("exit", started);
  } catch (error) {
    started();
    throw error;
  }
}
