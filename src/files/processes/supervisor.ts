import cluster, { type Worker } from "node:cluster";
import type { Readable } from "node:stream";
import { type Bus, KeptMessages } from "./bus.ts";
import { closeLostConnections } from "./lost-connections.ts";
import {
  JOINING,
  type Publication,
  REPLACING,
  type ToPrimary,
  type ToWorker,
} from "./worker-link.ts";

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
  /**
   * What a worker is told at its start; it can be cloned. A worker that is replaced hands over what
   * the next one begins with; one that serves tells what all know.
   */
  readonly startOf: (number: number, id: number, given: Given) => unknown;
  /** Called once, when the first worker serves. */
  readonly onReady: (value: unknown) => void;
  /** Takes whole lines of what workers write. */
  readonly onOutput: (stream: "stdout" | "stderr", lines: string) => void;
  /** Takes what workers publish; true for what the other workers do not get. */
  readonly onPublished?: ((topic: string, message: unknown, id: number) => boolean) | undefined;
  /** Called when a worker that served has ended. */
  readonly onEnd?: ((id: number) => void) | undefined;
  readonly onEvent: (
    level: "info" | "error",
    message: string,
    members: Readonly<Record<string, unknown>>,
  ) => void;
  /** Makes an answer of what workers know; gets it by their ids. */
  readonly join: (what: string, answers: ReadonlyMap<number, unknown>) => unknown;
  /** How long workers may take to end when they are told to stop. */
  readonly graceMs: number;
}

/** What a worker begins with; undefined where nobody could say. */
interface Given {
  /** What the worker answered to `REPLACING` that this one replaces. */
  readonly handover: unknown;
  /** What a worker that serves answered to `JOINING`, when this one could be told what happens. */
  readonly joining: unknown;
}

/** How a supervisor ended: because it was told to, or because no worker can begin. */
export type SupervisorEnd =
  | { readonly reason: "stopped" }
  | { readonly reason: "failed"; readonly exitCode: number | null };

/** A worker process. Its id is that of no other, also not of one that it replaces. */
interface Live {
  readonly id: number;
  readonly worker: Worker;
  readonly startedAt: number;
  /** Whether it takes messages. */
  isListening: boolean;
  isReady: boolean;
  /** Whether it was told to end because another one serves in its place. */
  isRetired: boolean;
}

/** The place of a worker. */
interface Slot {
  readonly number: number;
  current: Live | undefined;
  /** Begins to serve in place of the current one. */
  successor: Live | undefined;
  /** When the next is started after one that ended early. */
  pauseMs: number;
  timer: NodeJS.Timeout | undefined;
  /** What the current one hands over to its successor. */
  handover: unknown;
  /** Called when another worker serves, or none will. */
  onReplaced: (() => void) | undefined;
}

/**
 * Runs a program several times with `node:cluster`, so that all listen on the same ports.
 *
 * The first worker begins alone: what is wrong with settings or the port is told once. One that ends
 * is replaced, later each time if it did not live for long; the others go on meanwhile. What workers
 * write comes out in whole lines, and what one publishes goes to all others.
 */
export class Supervisor implements Pick<Bus, "publish"> {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  readonly #kept = new KeptMessages();
  readonly #asked = new Map<number, (value: unknown) => void>();
  readonly #collecting = new Map<string, Promise<unknown>>();
  readonly #retired = new Set<Live>();
  #nextId = 0;
  #restarts = 0;
  #wasReady = false;
  #isStopping = false;
  #rolling: Promise<void> | undefined;
  #rollsAgain = false;
  #end: ((end: SupervisorEnd) => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      current: undefined,
      successor: undefined,
      pauseMs: 0,
      timer: undefined,
      handover: undefined,
      onReplaced: undefined,
    }));
  }

  /** How many workers serve. */
  get running(): number {
    return this.#slots.filter(({ current }) => current?.isReady === true).length;
  }

  /** How many workers were replaced because they ended. */
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
    for (const slot of this.#slots) {
      clearTimeout(slot.timer);
      slot.onReplaced?.();
    }
    this.#tellAll({ type: "stop", isRetired: false });
    this.#killLater(() => this.#live());
    this.#endIfAllGone();
  }

  /** Has all workers read their files again. */
  reload(): void {
    this.#tellAll({ type: "reload" });
  }

  /**
   * Replaces all workers, one after the other: the next one serves before the current one is told to
   * end. Where the next one cannot begin, the current one stays, and it is tried again later.
   */
  restart(): Promise<void> {
    this.#rollsAgain = this.#rolling !== undefined;
    this.#rolling ??= this.#roll().finally(() => (this.#rolling = undefined));
    return this.#rolling;
  }

  publish(topic: string, message: unknown, key?: string): void {
    this.#relay(undefined, { topic, message, key });
  }

  /** Sends one worker what it takes for published by another. */
  send(id: number, topic: string, message: unknown): void {
    const live = this.#live().find((each) => each.id === id);
    if (live?.isListening === true) tell(live, { type: "published", topic, message });
  }

  async #roll(): Promise<void> {
    do {
      this.#rollsAgain = false;
      for (const slot of this.#slots) {
        if (this.#isStopping) return;
        const { current } = slot;
        if (current?.isReady === true) slot.handover = await this.#ask(current, REPLACING);
        if (this.#isStopping || slot.successor !== undefined) continue;
        clearTimeout(slot.timer);
        await new Promise<void>((resolve) => {
          slot.onReplaced = resolve;
          this.#fork(slot);
        });
        slot.onReplaced = undefined;
        await this.#ended(current);
      }
    } while (this.#rollsAgain);
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
    const live: Live = {
      id: worker.id,
      worker,
      startedAt: performance.now(),
      isListening: false,
      isReady: false,
      isRetired: false,
    };
    if (slot.current === undefined) slot.current = live;
    else slot.successor = live;
    this.#relayOutput(worker.process.stdout, "stdout");
    this.#relayOutput(worker.process.stderr, "stderr");
    worker.on("message", (message: ToPrimary) => this.#take(slot, live, message));
    worker.on("error", (error) => {
      const members = { worker: slot.number, reason: error.message };
      this.#options.onEvent("error", "a worker cannot be reached", members);
      // One that could not be started has no process that would end.
      if (worker.process.pid === undefined) this.#gone(slot, live, null, null);
    });
    // Not on "exit": the last of what it wrote comes later.
    worker.process.on("close", (code, signal) => this.#gone(slot, live, code, signal));
  }

  #gone(slot: Slot, live: Live, code: number | null, signal: string | null): void {
    const wasRetired = this.#retired.delete(live);
    if (slot.current === live) slot.current = undefined;
    else if (slot.successor === live) slot.successor = undefined;
    else if (!wasRetired) return;
    live.isReady = false;
    live.isListening = false;
    this.#options.onEnd?.(live.id);
    if (this.#isStopping) {
      this.#endIfAllGone();
      return;
    }
    if (!this.#wasReady) {
      this.#end?.({ reason: "failed", exitCode: code });
      return;
    }
    if (!wasRetired) this.#replace(slot, live, code, signal);
  }

  #replace(slot: Slot, live: Live, code: number | null, signal: string | null): void {
    if (slot.current === undefined && slot.successor !== undefined) {
      slot.current = slot.successor;
      slot.successor = undefined;
    }
    const isShort = performance.now() - live.startedAt < SHORT_LIFE_MS;
    const longer = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * slot.pauseMs));
    slot.pauseMs = isShort ? longer : 0;
    this.#options.onEvent("error", "a worker ended and is replaced", {
      worker: slot.number,
      pid: live.worker.process.pid,
      status: code ?? undefined,
      signal: signal ?? undefined,
      afterMs: slot.pauseMs,
    });
    this.#restarts += 1;
    const isStarting = slot.current !== undefined && !slot.current.isReady;
    if (isStarting) return;
    slot.timer = setTimeout(() => this.#fork(slot), slot.pauseMs);
  }

  #take(slot: Slot, live: Live, message: ToPrimary): void {
    switch (message.type) {
      case "hello":
        live.isListening = true;
        for (const kept of this.#kept) tell(live, { type: "published", ...kept });
        void this.#start(slot, live);
        return;
      case "ready":
        this.#serves(slot, live);
        this.#beginOthers(message.value);
        return;
      case "answer":
        this.#asked.get(message.id)?.(message.value);
        return;
      case "publish":
        if (this.#options.onPublished?.(message.topic, message.message, live.id) === true) return;
        this.#relay(live, message);
        return;
      case "collect":
        void this.collect(message.what).then((value) =>
          tell(live, { type: "collected", id: message.id, value }),
        );
    }
  }

  /** From here on the worker is told what others publish: what is known until now, one of them says. */
  async #start(slot: Slot, live: Live): Promise<void> {
    const { number, handover } = slot;
    slot.handover = undefined;
    const serving = this.#live().find(({ isReady }) => isReady);
    const joining = serving === undefined ? undefined : await this.#ask(serving, JOINING);
    const start = this.#options.startOf(number, live.id, { handover, joining });
    tell(live, { type: "start", start });
    // It may have been told before it listened.
    if (this.#isStopping) tell(live, { type: "stop", isRetired: false });
  }

  #serves(slot: Slot, live: Live): void {
    live.isReady = true;
    this.#options.onEvent("info", "a worker serves", {
      worker: slot.number,
      pid: live.worker.process.pid,
    });
    const { current } = slot;
    if (slot.successor === live) {
      slot.current = live;
      slot.successor = undefined;
      if (current !== undefined) this.#retire(current);
    }
    slot.onReplaced?.();
  }

  #retire(live: Live): void {
    live.isRetired = true;
    this.#retired.add(live);
    tell(live, { type: "stop", isRetired: true });
    this.#killLater(() => (this.#retired.has(live) ? [live] : []));
  }

  #killLater(which: () => readonly Live[]): void {
    setTimeout(() => {
      for (const { worker } of which()) worker.process.kill("SIGKILL");
    }, this.#options.graceMs + STOP_MARGIN_MS).unref();
  }

  #relay(from: Live | undefined, { topic, key, message }: Publication): void {
    if (key !== undefined) this.#kept.set(topic, key, message);
    for (const live of this.#live()) {
      if (live !== from && live.isListening) tell(live, { type: "published", topic, key, message });
    }
  }

  /** All that run, those that are told to end too. */
  #live(): Live[] {
    const serving = this.#slots.flatMap(({ current, successor }) => [current, successor]);
    return [...serving, ...this.#retired].filter((live) => live !== undefined);
  }

  #ended(live: Live | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (live === undefined || !this.#retired.has(live)) resolve();
      else live.worker.process.once("close", () => resolve());
    });
  }

  #beginOthers(value: unknown): void {
    if (this.#wasReady) return;
    this.#wasReady = true;
    this.#options.onReady(value);
    if (this.#isStopping) return;
    for (const slot of this.#slots.slice(1)) this.#fork(slot);
  }

  /** What all workers know; those who ask at the same time get the same. */
  collect(what: string): Promise<unknown> {
    const known = this.#collecting.get(what);
    if (known !== undefined) return known;
    const collecting = this.#askAll(what).finally(() => this.#collecting.delete(what));
    this.#collecting.set(what, collecting);
    return collecting;
  }

  async #askAll(what: string): Promise<unknown> {
    const answers = new Map<number, unknown>();
    await Promise.all(
      this.#live().map(async (live) => {
        if (!live.isReady) return;
        const answer = await this.#ask(live, what);
        if (answer !== undefined) answers.set(live.id, answer);
      }),
    );
    return this.#options.join(what, answers);
  }

  /** Undefined when the worker does not answer in time, or ends. */
  #ask(live: Live, what: string): Promise<unknown> {
    const { worker } = live;
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
      tell(live, { type: "question", id, what });
    });
  }

  #tellAll(message: ToWorker): void {
    for (const live of this.#live()) tell(live, message);
  }

  #endIfAllGone(): void {
    if (this.#live().length > 0) return;
    this.#end?.({ reason: "stopped" });
  }

  #relayOutput(from: Readable | null, stream: "stdout" | "stderr"): void {
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

function tell({ worker }: Live, message: ToWorker): void {
  // A worker that ended is replaced when its end is noticed.
  if (worker.isConnected()) worker.send(message, () => undefined);
}
