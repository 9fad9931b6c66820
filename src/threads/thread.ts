import { type TransferListItem, Worker } from "node:worker_threads";
import { setFlagsFromString } from "node:v8";
import { MementoMapError } from "../errors.ts";
import { type CallMessage, callOn, receivedError, type ResponseMessage } from "./thread-server.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A worker thread that runs a job.
 *
 * If the thread dies, all pending and later calls fail with `MM_WORKER`.
 */
export class Thread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #failure: Error | undefined;

  constructor(module: URL, data: unknown) {
    this.#worker = startWorker(module, data);
    this.#worker.on("message", (message: ResponseMessage) => {
      this.#receive(message);
    });
    this.#worker.on("error", (error) => {
      this.#fail(error);
    });
    this.#worker.on("exit", () => {
      this.#fail(undefined);
    });
  }

  /** Calls a method of the thread's job. */
  call(
    method: string,
    args: readonly unknown[],
    transfer: readonly TransferListItem[] = [],
  ): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, args } satisfies CallMessage, transfer);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #receive(message: ResponseMessage): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ("error" in message) pending?.reject(receivedError(message.error));
    else pending?.resolve(message.value);
  }

  #fail(cause: unknown): void {
    this.#failure ??= new MementoMapError(
      "MM_WORKER",
      "a worker thread died; more --memory, fewer --threads or a higher limit on open files (ulimit -n) may help",
      { cause },
    );
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}

let starting = 0;

/**
 * Starts a worker thread without background compilation.
 *
 * Node 20 aborts (status 134) when a thread ends during a background compilation that requests a
 * garbage collection: the thread has already left Node's platform. One in sixty short runs of
 * `generate` failed like this, after its map was written and its summary printed. If all cores are
 * busy this costs nothing: compilation takes the same time on either thread.
 */
export function startWorker(module: URL, data: unknown): Worker {
  // V8 reads the flag when a thread creates its heap, which is before it is "online".
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

/** A job whose methods may run on another thread, and return promises. */
export type Remote<Job> = {
  readonly [Name in keyof Job]: Job[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** Calls the methods on this thread, yielding to other work before each call. */
export function inTurns<Job extends object>(job: Job): Remote<Job> {
  return remote(async (method, args) => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return callOn(job, method, args);
  });
}

/**
 * Calls the methods on another thread, which serves the job.
 *
 * @param transfers per method, the buffers in its arguments to transfer to the thread.
 */
export function onThread<Job extends object>(
  thread: Thread,
  transfers: Transfers<Job> = {},
): Remote<Job> {
  // The type of `Remote` guarantees that the arguments match the method.
  const moved = transfers as Readonly<
    Record<string, (...args: readonly unknown[]) => ArrayBuffer[]>
  >;
  return remote((method, args) => thread.call(method, args, moved[method]?.(...args)));
}

type Transfers<Job> = {
  readonly [Name in keyof Job]?: Job[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => ArrayBuffer[]
    : never;
};

function remote<Job>(
  call: (method: string, args: readonly unknown[]) => Promise<unknown>,
): Remote<Job> {
  const get =
    (_: object, method: string) =>
    (...args: readonly unknown[]): Promise<unknown> =>
      call(method, args);
  return new Proxy({}, { get }) as Remote<Job>; // the type lists its methods
}
