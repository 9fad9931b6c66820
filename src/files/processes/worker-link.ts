import cluster from "node:cluster";
import { type Bus, KeptMessages } from "./bus.ts";

/** How long the primary process may take to collect what all know. */
const COLLECT_MS = 5000;

/** Whether this process was started by a `Supervisor`. */
export function isWorkerProcess(): boolean {
  return cluster.isWorker;
}

/** What a worker has to do with the primary process that started it. */
export class WorkerLink implements Bus {
  readonly #kept = new KeptMessages();
  readonly #listeners = new Map<string, ((message: unknown) => void)[]>();
  readonly #answers = new Map<string, () => unknown>();
  readonly #collected = new Map<number, (value: unknown) => void>();
  readonly #reloads = new Set<() => void>();
  readonly #stop: () => void;
  #isRetired = false;
  #start: ((start: unknown) => void) | undefined;
  #nextId = 0;

  /** @param stop called when the primary process wants the worker to end. */
  constructor(stop: () => void) {
    this.#stop = stop;
    process.on("message", (message: ToWorker) => this.#take(message));
  }

  /** Whether it is to end because another worker serves in its place. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** What the supervisor has for this worker to begin with. Call it once. */
  start(): Promise<unknown> {
    return new Promise((resolve) => {
      this.#start = resolve;
      this.#send({ type: "hello" });
    });
  }

  /** Tells that the worker serves. */
  ready(value: unknown): void {
    this.#send({ type: "ready", value });
  }

  publish(topic: string, message: unknown, key?: string): void {
    this.#send({ type: "publish", topic, message, key });
  }

  subscribe(topic: string, listener: (message: unknown) => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
    for (const message of this.#kept.of(topic)) listener(message);
  }

  /** How to answer when the primary process asks for what this worker knows. */
  answer(what: string, answer: () => unknown): void {
    this.#answers.set(what, answer);
  }

  /** Calls back when the worker is to read its files again; the function returned takes that back. */
  onReload(listener: () => void): () => void {
    this.#reloads.add(listener);
    return () => this.#reloads.delete(listener);
  }

  /** What the primary process collected; undefined when it does not answer in time. */
  collect(what: string): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const end = (value: unknown): void => {
        clearTimeout(timer);
        this.#collected.delete(id);
        resolve(value);
      };
      const timer = setTimeout(() => end(undefined), COLLECT_MS);
      this.#collected.set(id, end);
      this.#send({ type: "collect", id, what });
    });
  }

  #take(message: ToWorker): void {
    switch (message.type) {
      case "start":
        this.#start?.(message.start);
        return;
      case "stop":
        this.#isRetired = message.isRetired;
        this.#stop();
        return;
      case "reload":
        for (const listener of this.#reloads) listener();
        return;
      case "published":
        this.#deliver(message);
        return;
      case "question":
        void this.#reply(message.id, message.what);
        return;
      case "collected":
        this.#collected.get(message.id)?.(message.value);
    }
  }

  #deliver({ topic, key, message }: Publication): void {
    if (key !== undefined) this.#kept.set(topic, key, message);
    if (message === undefined) return;
    for (const listener of this.#listeners.get(topic) ?? []) listener(message);
  }

  async #reply(id: number, what: string): Promise<void> {
    this.#send({ type: "answer", id, value: await this.#answers.get(what)?.() });
  }

  #send(message: ToPrimary): void {
    // Without the primary process this one ends by itself: nobody else needs to know.
    process.send?.(message, undefined, undefined, () => undefined);
  }
}

/** What is asked of a worker that will be replaced; the next one begins with the answer. */
export const REPLACING = "replacing";
/** What is asked of a worker that serves when another one begins; that one begins with the answer. */
export const JOINING = "joining";

/** What one process publishes for all others; see {@link Bus}. */
export interface Publication {
  readonly topic: string;
  readonly message: unknown;
  readonly key?: string | undefined;
}

/** What the primary process tells a worker. */
export type ToWorker =
  | { readonly type: "start"; readonly start: unknown }
  | { readonly type: "stop"; readonly isRetired: boolean }
  | { readonly type: "reload" }
  | ({ readonly type: "published" } & Publication)
  /** Asks for what this worker knows. */
  | { readonly type: "question"; readonly id: number; readonly what: string }
  /** What all workers know, as the worker asked for it. */
  | { readonly type: "collected"; readonly id: number; readonly value: unknown };

/** What a worker tells the primary process. */
export type ToPrimary =
  /** It listens to messages. */
  | { readonly type: "hello" }
  /** It serves. */
  | { readonly type: "ready"; readonly value: unknown }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | ({ readonly type: "publish" } & Publication)
  /** Asks for what all workers know. */
  | { readonly type: "collect"; readonly id: number; readonly what: string };
