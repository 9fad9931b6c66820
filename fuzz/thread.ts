import { parentPort, workerData } from "node:worker_threads";
import type { FuzzOptions, FuzzResult } from "./fuzzer.ts";
import { Fuzzer } from "./fuzzer.ts";
import { loadTarget } from "./targets.ts";

/** What a thread is told to do. */
export interface ThreadTask {
  readonly target: string;
  readonly options: FuzzOptions;
  /** Where it writes the input it is about to run: a count, the length, and the bytes. */
  readonly running: SharedArrayBuffer;
}

/** Bytes before the input in {@link ThreadTask.running}. */
export const RUNNING_HEAD_BYTES = 8;

/** What a thread tells. */
export type ThreadMessage =
  | { readonly inputs: number; readonly failures: number }
  | { readonly result: FuzzResult };

if (parentPort !== null) {
  const port = parentPort;
  // Given by fuzz/run.ts.
  const { target, options, running } = workerData as ThreadTask;
  const numbers = new Int32Array(running, 0, 2);
  const bytes = new Uint8Array(running, RUNNING_HEAD_BYTES);
  const fuzzer = new Fuzzer(await loadTarget(target), options, {
    running(input) {
      bytes.set(input.length > bytes.length ? input.subarray(0, bytes.length) : input);
      numbers[1] = input.length;
      Atomics.add(numbers, 0, 1);
    },
    progress(inputs, failures) {
      port.postMessage({ inputs, failures } satisfies ThreadMessage);
    },
  });
  port.postMessage({ result: await fuzzer.run() } satisfies ThreadMessage);
}
