import type { TransferListItem, Worker } from "node:worker_threads";
import { MementoMapError } from "../errors.ts";
import { receivedError } from "./messages.ts";
import type { RequestMessage, ResponseMessage } from "./messages.ts";
import { startWorker } from "./start-worker.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A worker thread that answers requests.
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

  ask(request: unknown, transfer: readonly TransferListItem[] = []): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request } satisfies RequestMessage, transfer);
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
