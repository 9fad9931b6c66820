import { type TransferListItem, Worker } from "node:worker_threads";
import { setFlagsFromString } from "node:v8";
import { MementoMapError } from "../errors.ts";
import { type CallMessage, callOn, receivedError, type ResponseMessage } from "./thread-server.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A worker thread that does a job.
 *
 * A thread that dies fails all that was asked of it with `MM_WORKER`, and everything asked later.
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

  /** Calls a method of the job that the thread serves. */
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
      "a worker thread ended before its work was done; more --memory, fewer --threads or a higher limit of open files (ulimit -n) may help",
      { cause },
    );
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}

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

/** A job whose methods may run on another thread: their results come later. */
export type Remote<Job> = {
  readonly [Name in keyof Job]: Job[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** Calls the methods on this thread; lets other work run before each call. */
export function inTurns<Job extends object>(job: Job): Remote<Job> {
  return remote(async (method, args) => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return callOn(job, method, args);
  });
}

/**
 * Calls the methods on another thread, which serves such a job.
 *
 * @param transfers which buffers of its arguments move to the thread, for methods that have any.
 */
export function onThread<Job extends object>(
  thread: Thread,
  transfers: Transfers<Job> = {},
): Remote<Job> {
  // Arguments are those of the method, by the type of `Remote`.
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
  return new Proxy({}, { get }) as Remote<Job>; // its type says which methods there are
}
