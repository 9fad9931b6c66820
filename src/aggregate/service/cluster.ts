import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { Log } from "../../http/log.ts";
import type { ProcessPlace } from "../session.ts";

/** A worker that ends sooner is restarted with increasing delays. */
const SHORT_LIFE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** How long metrics wait for a starting worker. */
const START_MS = 3000;
/** How much longer than its grace period a worker may take to end. */
const STOP_MARGIN_MS = 5000;
/** Environment variables with the number of a worker, from 1, and the number of workers. */
const NUMBER = "MEMENTOMAP_WORKER_NUMBER";
const COUNT = "MEMENTOMAP_WORKER_COUNT";

/** Configured and running workers. */
export interface WorkerCounts {
  readonly wanted: number;
  readonly running: number;
}

type ToWorker =
  | { readonly type: "stop" | "reload" }
  | { readonly type: "counts"; readonly counts: WorkerCounts }
  | { readonly type: "metrics"; readonly text: string };

type ToPrimary = { readonly type: "ready"; readonly value: unknown } | { readonly type: "metrics" };

/** The program to start as a worker: this one, with the same arguments. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

export interface ClusterOptions {
  readonly program: Program;
  readonly count: number;
  /** Environment variables with settings shared by all workers. */
  readonly env: Readonly<Record<string, string>>;
  /** How long a worker may take to end after it is told to stop. */
  readonly graceMs: number;
  /** Called once, with the value that the first worker passed to `ready`. */
  readonly onReady: (value: unknown) => void;
  readonly log: Log;
}

/** A worker process; another one replaces it when it ends. */
interface Slot {
  /** From 1. */
  readonly number: number;
  /** Undefined until it is restarted. */
  worker?: Worker | undefined;
  isReady: boolean;
  startedAt: number;
  pauseMs: number;
}

/**
 * The primary process of a service: starts workers that listen on the same port, and replaces those that
 * end. It serves no requests itself.
 *
 * The first worker starts alone, so that an invalid setting is reported once. Workers share only the port and
 * the files named in their settings.
 */
export class Primary {
  readonly #options: ClusterOptions;
  readonly #registry = new AggregatorRegistry();
  readonly #own = new Registry();
  readonly #restarts: Counter;
  readonly #slots: readonly Slot[];
  #wasReady = false;
  #isStopping = false;
  #end: (isOk: boolean) => void = () => undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => {
      return { number: index + 1, isReady: false, startedAt: 0, pauseMs: 0 };
    });
    const registers = [this.#own];
    const workers: Gauge = new Gauge({
      name: "mementomap_workers",
      help: "Worker processes that accept requests.",
      registers,
      collect: (): void => workers.set(this.#counts.running),
    });
    this.#restarts = new Counter({
      name: "mementomap_worker_restarts_total",
      help: "Worker processes that ended and were replaced.",
      registers,
    });
  }

  get #counts(): WorkerCounts {
    const running = this.#slots.filter(({ isReady }) => isReady).length;
    return { wanted: this.#options.count, running };
  }

  /** Runs the workers until `stop` is called and all have ended; false if none can start. */
  run(): Promise<boolean> {
    const { file, args } = this.#options.program;
    // Each worker accepts connections itself. A connection that the primary handed to a worker that is then
    // killed would be neither answered nor closed, and one handed to a hanging worker would wait.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: file, args: [...args] });
    return new Promise((resolve) => {
      this.#end = resolve;
      this.#start(this.#slots[0]);
    });
  }

  /** Makes all workers reload their files. */
  reload(): void {
    this.#tellAll({ type: "reload" });
  }

  /** Tells all workers to stop, and kills those that do not. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#tellAll({ type: "stop" });
    setTimeout(() => {
      for (const { worker } of this.#slots) worker?.process.kill("SIGKILL");
    }, this.#options.graceMs + STOP_MARGIN_MS).unref();
    this.#endIfDone();
  }

  #start(slot: Slot): void {
    const worker = cluster.fork({
      ...this.#options.env,
      [NUMBER]: String(slot.number),
      [COUNT]: String(this.#options.count),
      // Accept one connection at a time, so that simultaneous ones are distributed.
      UV_TCP_SINGLE_ACCEPT: "1",
    });
    slot.worker = worker;
    slot.startedAt = performance.now();
    worker.on("message", (message: ToPrimary) => {
      if (message.type === "ready") this.#noteReady(slot, message.value);
      // prom-client's registry sends messages of its own.
      else if (message.type === "metrics") void this.#sendMetrics(worker);
    });
    worker.on("exit", (status: number | null, signal: string | null) => {
      slot.worker = undefined;
      slot.isReady = false;
      this.#tellAll({ type: "counts", counts: this.#counts });
      if (this.#isStopping) this.#endIfDone();
      else if (!this.#wasReady) this.#end(false);
      else this.#replace(slot, worker.process.pid, signal ?? status);
    });
  }

  #replace(slot: Slot, pid: number | undefined, end: string | number | null): void {
    const isShort = performance.now() - slot.startedAt < SHORT_LIFE_MS;
    const longerMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * slot.pauseMs));
    slot.pauseMs = isShort ? longerMs : 0;
    this.#options.log.event("error", "worker ended; restarting it", {
      worker: slot.number,
      pid,
      [typeof end === "string" ? "signal" : "status"]: end ?? undefined,
      afterMs: slot.pauseMs,
    });
    this.#restarts.inc();
    setTimeout(() => {
      if (!this.#isStopping) this.#start(slot);
    }, slot.pauseMs);
  }

  #noteReady(slot: Slot, value: unknown): void {
    const { number, worker } = slot;
    slot.isReady = true;
    this.#tellAll({ type: "counts", counts: this.#counts });
    const { log, onReady } = this.#options;
    log.event("info", "worker ready", { worker: number, pid: worker?.process.pid });
    if (this.#wasReady) return;
    this.#wasReady = true;
    onReady(value);
    if (!this.#isStopping) for (const other of this.#slots.slice(1)) this.#start(other);
  }

  async #sendMetrics(worker: Worker): Promise<void> {
    // A starting worker does not report its metrics, and all would wait for it.
    const until = performance.now() + START_MS;
    while (this.#slots.some(isStarting) && performance.now() < until) await sleep(50);
    // A hanging worker does not respond; the primary's own metrics are still sent.
    const joined = await this.#registry.clusterMetrics().catch(() => "");
    tell(worker, { type: "metrics", text: `${await this.#own.metrics()}\n${joined}` });
  }

  #tellAll(message: ToWorker): void {
    for (const { worker } of this.#slots) if (worker !== undefined) tell(worker, message);
  }

  #endIfDone(): void {
    if (this.#slots.every(({ worker }) => worker === undefined)) this.#end(true);
  }
}

function isStarting({ worker, isReady }: Slot): boolean {
  return worker !== undefined && !isReady;
}

/** A worker that is about to end accepts no messages; its exit is handled elsewhere. */
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, undefined, () => undefined);
}

/** Whether this process was started by a {@link Primary}. */
export function isWorkerProcess(): boolean {
  return cluster.isWorker;
}

/** A worker's connection to the primary process. */
export class WorkerLink {
  readonly place: ProcessPlace;
  counts: WorkerCounts;
  /** Called on SIGHUP of the primary process. */
  onReload: () => void = () => undefined;
  /** The pending request for metrics, shared by callers. */
  #asked: Promise<string> | undefined;
  #answer: (text: string) => void = () => undefined;

  /** @param stop called when the primary process tells the worker to stop, or has ended itself. */
  constructor(env: Readonly<Record<string, string | undefined>>, stop: () => void) {
    this.place = { number: Number(env[NUMBER]), count: Number(env[COUNT]) };
    this.counts = { wanted: this.place.count, running: 1 };
    process.on("message", (message: ToWorker) => {
      if (message.type === "stop") stop();
      else if (message.type === "reload") this.onReload();
      else if (message.type === "counts") this.counts = message.counts;
      else if (message.type === "metrics") this.#answer(message.text);
    });
    process.on("disconnect", stop);
  }

  /** Reports to the primary process that this worker is ready. */
  ready(value: unknown): void {
    process.send?.({ type: "ready", value } satisfies ToPrimary);
  }

  /** Includes a registry in the totals of {@link text}. */
  expose(registry: Registry): void {
    AggregatorRegistry.setRegistries(registry);
    void new AggregatorRegistry();
  }

  /** The combined metrics of all workers, in the text format of Prometheus. */
  text(): Promise<string> {
    this.#asked ??= new Promise<string>((resolve) => {
      this.#answer = resolve;
      process.send?.({ type: "metrics" } satisfies ToPrimary);
    }).finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }
}
