import cluster, { type Worker } from "node:cluster";
import type { Readable } from "node:stream";
import type { ToPrimary, ToWorker } from "./worker-link.ts";

/** A worker that lives for a shorter time is started again later each time. */
const SHORT_LIFE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** How long a worker may take to tell what it knows. */
const ANSWER_MS = 2000;
/** A worker that does not accept a connection for this long hangs, or has no open files left. */
const STUCK_MS = 10_000;
/** How much longer than its own time a worker may take to end. */
const STOP_MARGIN_MS = 5000;

/**
 * Room for the objects of requests under way, in MiB. With the 16 MiB of Node 20, most of them live
 * long enough to be copied twice; with more room a request costs a fifth less.
 */
const YOUNG_OBJECTS = "--max-semi-space-size=64";

/** What to start as a worker: this program, with the same arguments. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

export interface SupervisorOptions {
  readonly program: Program;
  readonly count: number;
  /** What a worker is told at its start; it can be cloned. */
  readonly startOf: (number: number) => unknown;
  /** Called once, when the first worker serves. */
  readonly onReady: (value: unknown) => void;
  /** Takes whole lines of what workers write. */
  readonly onOutput: (stream: "stdout" | "stderr", lines: string) => void;
  readonly onEnd?: ((number: number) => void) | undefined;
  readonly onEvent: (
    level: "info" | "error",
    message: string,
    members: Readonly<Record<string, unknown>>,
  ) => void;
  /** Makes an answer of what workers know; gets it by their numbers. */
  readonly join: (what: string, answers: ReadonlyMap<number, unknown>) => unknown;
  /** How long workers may take to end when they are told to stop. */
  readonly graceMs: number;
}

/** How a supervisor ended: because it was told to, or because no worker can begin. */
export type SupervisorEnd =
  | { readonly reason: "stopped" }
  | { readonly reason: "failed"; readonly exitCode: number | null };

interface Slot {
  readonly number: number;
  worker: Worker | undefined;
  isReady: boolean;
  startedAt: number;
  pauseMs: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Runs a program several times with `node:cluster`, so that all listen on the same ports.
 *
 * The first worker begins alone: what is wrong with settings or the port is told once. One that ends
 * is replaced, later each time if it did not live for long; the others go on meanwhile. What workers
 * write comes out in whole lines.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  readonly #asked = new Map<number, (value: unknown) => void>();
  readonly #collecting = new Map<string, Promise<unknown>>();
  #nextId = 0;
  #restarts = 0;
  #wasReady = false;
  #isStopping = false;
  #end: ((end: SupervisorEnd) => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      worker: undefined,
      isReady: false,
      startedAt: 0,
      pauseMs: 0,
      timer: undefined,
    }));
  }

  /** How many workers serve. */
  get running(): number {
    return this.#slots.filter(({ isReady }) => isReady).length;
  }

  /** How many workers were replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Runs the workers until `stop` is called and all have ended, or none can begin. */
  run(): Promise<SupervisorEnd> {
    const { file, args } = this.#options.program;
    // The connections that clients keep are spread evenly. Left to the system, one worker takes most of
    // those that come at the same time.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({
      exec: file,
      args: [...args],
      execArgv: [...process.execArgv, YOUNG_OBJECTS],
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    return new Promise((resolve) => {
      this.#end = resolve;
      this.#fork(this.#slots[0]);
    });
  }

  /** Tells all workers to end, and cuts off those that do not. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const slot of this.#slots) clearTimeout(slot.timer);
    this.#tellAll({ type: "stop" });
    setTimeout(() => {
      for (const { worker } of this.#slots) worker?.process.kill("SIGKILL");
    }, this.#options.graceMs + STOP_MARGIN_MS).unref();
    this.#endIfAllGone();
  }

  /** Has all workers read their files again. */
  reload(): void {
    this.#tellAll({ type: "reload" });
  }

  #fork(slot: Slot): void {
    const worker = cluster.fork();
    closeLostConnections(worker, {
      longestMs: STUCK_MS,
      isStopping: () => this.#isStopping,
      onStuck: () => {
        const members = { worker: slot.number, pid: worker.process.pid, afterMs: STUCK_MS };
        this.#options.onEvent("error", "a worker accepts no connections and is killed", members);
        worker.process.kill("SIGKILL");
      },
    });
    slot.worker = worker;
    slot.startedAt = performance.now();
    this.#relay(worker.process.stdout, "stdout");
    this.#relay(worker.process.stderr, "stderr");
    worker.on("message", (message: ToPrimary) => this.#take(slot, worker, message));
    worker.on("error", (error) => {
      const members = { worker: slot.number, reason: error.message };
      this.#options.onEvent("error", "a worker cannot be reached", members);
      // One that could not be started has no process that would end.
      if (worker.process.pid === undefined) this.#gone(slot, worker, null, null);
    });
    // Not on "exit": the last of what it wrote comes later.
    worker.process.on("close", (code, signal) => this.#gone(slot, worker, code, signal));
  }

  #gone(slot: Slot, worker: Worker, code: number | null, signal: string | null): void {
    if (slot.worker !== worker) return;
    slot.worker = undefined;
    slot.isReady = false;
    this.#options.onEnd?.(slot.number);
    if (this.#isStopping) {
      this.#endIfAllGone();
      return;
    }
    if (!this.#wasReady) {
      this.#end?.({ reason: "failed", exitCode: code });
      return;
    }
    const isShort = performance.now() - slot.startedAt < SHORT_LIFE_MS;
    const longer = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * slot.pauseMs));
    slot.pauseMs = isShort ? longer : 0;
    this.#options.onEvent("error", "a worker ended and is replaced", {
      worker: slot.number,
      pid: worker.process.pid,
      status: code ?? undefined,
      signal: signal ?? undefined,
      afterMs: slot.pauseMs,
    });
    this.#restarts += 1;
    slot.timer = setTimeout(() => this.#fork(slot), slot.pauseMs);
  }

  #take(slot: Slot, worker: Worker, message: ToPrimary): void {
    switch (message.type) {
      case "hello":
        tell(worker, { type: "start", start: this.#options.startOf(slot.number) });
        // It may have been told before it listened.
        if (this.#isStopping) tell(worker, { type: "stop" });
        return;
      case "ready":
        slot.isReady = true;
        this.#options.onEvent("info", "a worker serves", {
          worker: slot.number,
          pid: worker.process.pid,
        });
        this.#beginOthers(message.value);
        return;
      case "answer":
        this.#asked.get(message.id)?.(message.value);
        return;
      case "collect":
        void this.#collect(message.what).then((value) =>
          tell(worker, { type: "collected", id: message.id, value }),
        );
    }
  }

  #beginOthers(value: unknown): void {
    if (this.#wasReady) return;
    this.#wasReady = true;
    this.#options.onReady(value);
    if (this.#isStopping) return;
    for (const slot of this.#slots.slice(1)) this.#fork(slot);
  }

  /** What all workers know; those who ask at the same time get the same. */
  #collect(what: string): Promise<unknown> {
    const known = this.#collecting.get(what);
    if (known !== undefined) return known;
    const collecting = this.#askAll(what).finally(() => this.#collecting.delete(what));
    this.#collecting.set(what, collecting);
    return collecting;
  }

  async #askAll(what: string): Promise<unknown> {
    const answers = new Map<number, unknown>();
    await Promise.all(
      this.#slots.map(async ({ number, worker, isReady }) => {
        if (worker === undefined || !isReady) return;
        const answer = await this.#ask(worker, what);
        if (answer !== undefined) answers.set(number, answer);
      }),
    );
    return this.#options.join(what, answers);
  }

  /** Undefined when the worker does not answer in time, or ends. */
  #ask(worker: Worker, what: string): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const end = (value: unknown): void => {
        clearTimeout(timer);
        worker.off("exit", onExit);
        this.#asked.delete(id);
        resolve(value);
      };
      const onExit = (): void => end(undefined);
      const timer = setTimeout(onExit, ANSWER_MS);
      worker.once("exit", onExit);
      this.#asked.set(id, end);
      tell(worker, { type: "question", id, what });
    });
  }

  #tellAll(message: ToWorker): void {
    for (const { worker } of this.#slots) if (worker !== undefined) tell(worker, message);
  }

  #endIfAllGone(): void {
    if (this.#slots.some(({ worker }) => worker !== undefined)) return;
    this.#end?.({ reason: "stopped" });
  }

  #relay(from: Readable | null, stream: "stdout" | "stderr"): void {
    let rest = "";
    from?.setEncoding("utf8");
    from?.on("data", (text: string) => {
      const all = rest + text;
      const end = all.lastIndexOf("\n") + 1;
      rest = all.slice(end);
      if (end > 0) this.#options.onOutput(stream, all.slice(0, end));
    });
    from?.on("end", () => {
      if (rest !== "") this.#options.onOutput(stream, `${rest}\n`);
    });
  }
}

function tell(worker: Worker, message: ToWorker): void {
  // A worker that ended is replaced when its end is noticed.
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** What `node:cluster` sends with a connection, and how a worker confirms that it has it. */
interface InternalMessage {
  readonly act?: unknown;
  readonly seq?: number;
  readonly ack?: number;
  readonly accepted?: boolean;
}

type Handle = { close?(): void } | undefined;

type Send = (message: InternalMessage, handle?: Handle, ...more: unknown[]) => boolean;

interface LostConnectionsOptions {
  /** How long a worker may take to confirm a connection. */
  readonly longestMs: number;
  /** Whether all workers have been told to end: nobody takes a connection that one gives back. */
  readonly isStopping: () => boolean;
  /** Called once for a worker that takes too long. */
  readonly onStuck: () => void;
}

/**
 * Closes connections that were on their way to a worker when it ended, stopped listening, or hung.
 *
 * `node:cluster` forgets them and leaves them open, so that a client would wait for an answer until its
 * own time is over. A worker that has no room for open files loses connections without a word, and gets
 * no other: it counts as stuck. This goes by messages that Node does not document: should they change,
 * it does nothing.
 */
function closeLostConnections(worker: Worker, options: LostConnectionsOptions): void {
  const child = worker.process;
  const sent = new Map<number, Handle>();
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    clearTimeout(timer);
    timer = sent.size === 0 ? undefined : setTimeout(options.onStuck, options.longestMs);
  };
  const send = child.send.bind(child) as Send;
  child.send = ((message, handle, ...more) => {
    if (message.act === "newconn" && message.seq !== undefined && handle !== undefined) {
      sent.set(message.seq, handle);
      if (timer === undefined) watch();
    }
    return send(message, handle, ...more);
  }) satisfies Send as typeof child.send;
  child.on("internalMessage", ({ ack, accepted }: InternalMessage) => {
    if (ack === undefined || !sent.has(ack)) return;
    const handle = sent.get(ack);
    sent.delete(ack);
    watch();
    if (accepted === false && options.isStopping()) setImmediate(() => handle?.close?.());
  });
  child.once("exit", () => {
    clearTimeout(timer);
    for (const handle of sent.values()) handle?.close?.();
    sent.clear();
  });
}
