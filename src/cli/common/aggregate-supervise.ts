import { availableParallelism } from "node:os";
import { join } from "node:path";
import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import { endedSnapshot, type StatusSnapshot } from "../../aggregate/service/service-status.ts";
import type { ProcessPlace } from "../../aggregate/session.ts";
import { TurnKeeper, type TurnRequest, TURNS_TOPIC } from "../../aggregate/upstream/turns.ts";
import { mostOpenFiles } from "../../files/open-files.ts";
import { type Program, Supervisor } from "../../files/processes/supervisor.ts";
import { withTempDir } from "../../files/scratch.ts";
import type { MetricsSnapshot } from "../../http/metrics.ts";
import { MOST_WORKERS } from "./aggregate-options.ts";
import type { AggregateValues } from "./aggregate-setup.ts";
import { usage } from "./command-line.ts";
import { ExitCode, type Io } from "./io.ts";
import { listeningLine, openServiceLog, reloader } from "./server-shell.ts";

/** How often the primary process asks workers for what they counted, in case they die. */
const NOTED_EVERY_MS = 2000;

const START_TIME = "process_start_time_seconds";

/** What a worker process is told at its start. */
export interface WorkerStart {
  readonly place: ProcessPlace;
  readonly id: number;
  /** Where it listens for what other workers forward. */
  readonly socket: string;
  /** What the worker knew that this one replaces, if it could say. */
  readonly handover: Handover | undefined;
  /** What a worker that serves has learnt, where learning is on. */
  readonly learnt: Uint8Array | undefined;
  readonly values: AggregateValues;
}

/** What a worker leaves to the one that replaces it. */
export interface Handover {
  /** Its cache, as `MemoryStore` dumps it. */
  readonly cache: readonly Uint8Array[];
  /** Who answers for originals that it owns, as `Holders` dumps it. */
  readonly holders: Uint32Array | undefined;
}

/** What workers answered, and how many serve. */
export interface KnownStatus {
  readonly snapshots: readonly StatusSnapshot[];
  readonly ended: StatusSnapshot | undefined;
  readonly running: number;
}

/** With fewer open files there is one process: a worker without a file cannot be given a connection. */
const FEW_FILES = 256;

/** One worker for each core; 1 where the program cannot be started once more, or open files are few. */
export function defaultWorkers({ program }: Io): number {
  const isAlone = program === undefined || mostOpenFiles() < FEW_FILES;
  return isAlone ? 1 : Math.min(MOST_WORKERS, availableParallelism());
}

/**
 * Runs the service in several processes until it is told to stop. This one answers no requests: it
 * starts and replaces the workers, and puts together what they know.
 *
 * @throws MM_USAGE where the program cannot be started once more.
 */
export function superviseAggregators(
  values: AggregateValues & { readonly workers: number },
  io: Io,
  reread: () => AggregateValues,
): Promise<ExitCode> {
  const { program } = io;
  if (program === undefined) throw usage("aggregate", "--workers needs the program mementomap");
  return withTempDir({ interrupt: io.interrupt }, (sockets) =>
    supervise(values, io, { program, sockets, reread }),
  );
}

/** What all processes have in common as long as the service runs, whatever settings say later. */
export function fixedOf(values: AggregateValues): Partial<AggregateValues> {
  const { workers, state, port, host } = values;
  const { "metrics-port": metricsPort, "metrics-host": metricsHost } = values;
  const monitoring = { "metrics-port": metricsPort, "metrics-host": metricsHost };
  return { workers, state, port, host, ...monitoring };
}

interface SuperviseOptions {
  readonly program: Program;
  /** A folder for the sockets of workers. */
  readonly sockets: string;
  readonly reread: () => AggregateValues;
}

async function supervise(
  values: AggregateValues & { readonly workers: number },
  io: Io,
  { program, sockets, reread }: SuperviseOptions,
): Promise<ExitCode> {
  let current: AggregateValues = values;
  const count = values.workers;
  const { log } = openServiceLog(io, { what: values["access-log"], isQuiet: true });
  const metrics = new JoinedMetrics();
  const statuses = new Map<number, StatusSnapshot>();
  let ended: StatusSnapshot | undefined;
  const supervisor: Supervisor = new Supervisor({
    program,
    count,
    startOf: (number, id, { handover, joining }): WorkerStart => ({
      // As serveAggregator answers.
      handover: handover as Handover | undefined,
      learnt: joining as Uint8Array | undefined,
      place: { number, count },
      id,
      socket: socketPath(sockets, id),
      values: current,
    }),
    onReady(value) {
      // As serveAggregator sends it.
      const addresses = value as { url: string; metrics: string | undefined };
      io.stdout.write(listeningLine(addresses, values.json));
    },
    onOutput: (stream, lines) => io[stream].write(lines),
    onPublished(topic, message, id) {
      if (topic !== TURNS_TOPIC) return false;
      turns.take(id, message as TurnRequest);
      return true;
    },
    onEnd(id) {
      metrics.end(id);
      turns.end(id);
      const last = statuses.get(id);
      statuses.delete(id);
      if (last !== undefined) ended = endedSnapshot(last, ended);
      supervisor.publish("ended", id);
      for (const topic of KEPT_BY_ID) supervisor.publish(topic, undefined, String(id));
    },
    onEvent: (level, message, members) => log.event(level, message, members),
    async join(what, answers) {
      if (what === "status") {
        const { running } = supervisor;
        // As serveAggregator answers.
        const snapshots = answers as ReadonlyMap<number, StatusSnapshot>;
        for (const [id, snapshot] of snapshots) statuses.set(id, snapshot);
        return { snapshots: [...snapshots.values()], ended, running } satisfies KnownStatus;
      }
      for (const [number, snapshot] of answers) metrics.take(number, snapshot as MetricsSnapshot);
      return metrics.text(await registry.getMetricsAsJSON());
    },
    graceMs: values.grace,
  });
  const registry = workerMetrics(supervisor);
  const turns = new TurnKeeper((id, grant) => supervisor.send(id, TURNS_TOPIC, grant));
  // What a worker counted since is lost when it is killed.
  const noting = setInterval(() => {
    void supervisor.collect("status");
    void supervisor.collect("metrics");
  }, NOTED_EVERY_MS);
  const { signal } = io.interrupt;
  const stop = (): void => supervisor.stop();
  const onHangUp = reloader(log, async () => {
    supervisor.reload();
    current = { ...reread(), ...fixedOf(current) };
    await supervisor.restart();
  });
  const offHangUp = io.onHangUp?.(onHangUp);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const running = supervisor.run();
    if (signal.aborted) stop();
    const { reason } = await running;
    return reason === "stopped" ? ExitCode.ok : ExitCode.failed;
  } finally {
    signal.removeEventListener("abort", stop);
    offHangUp?.();
    clearInterval(noting);
    turns.close();
    log.flush();
  }
}

/** What workers publish about themselves, by their ids. */
const KEPT_BY_ID = ["peers", "monitor-listeners"];

function socketPath(folder: string, id: number): string {
  return process.platform === "win32"
    ? String.raw`\\.\pipe\mementomap-${process.pid}-${id}`
    : join(folder, `${id}.socket`);
}

function workerMetrics(supervisor: Supervisor): Registry {
  const registry = new Registry();
  const registers = [registry];
  const startedAt = Date.now() / 1000 - process.uptime();
  void new Gauge({
    name: START_TIME,
    help: "Start time of the process since unix epoch in seconds.",
    registers,
    collect() {
      this.set(startedAt);
    },
  });
  void new Gauge({
    name: "mementomap_workers",
    help: "Worker processes that serve.",
    registers,
    collect() {
      this.set(supervisor.running);
    },
  });
  void new Counter({
    name: "mementomap_worker_restarts_total",
    help: "Worker processes that ended and were replaced.",
    registers,
    collect() {
      this.reset();
      this.inc(supervisor.restarts);
    },
  });
  return registry;
}

/**
 * What several processes counted, as one: values are joined as each metric wants it.
 *
 * What a process counted before it ended goes on to count, as far as it was told: a counter that falls
 * is taken for one that began at 0 again.
 */
export class JoinedMetrics {
  readonly #last = new Map<number, MetricsSnapshot>();
  #ended: MetricsSnapshot = [];

  take(process: number, snapshot: MetricsSnapshot): void {
    // The primary process says when the service began.
    const kept = snapshot.filter(({ name }) => name !== START_TIME);
    this.#last.set(process, kept);
  }

  end(process: number): void {
    const last = this.#last.get(process);
    if (last === undefined) return;
    this.#last.delete(process);
    const kept = last.filter(isCounted);
    const joined = AggregatorRegistry.aggregate([this.#ended, kept]);
    // With the values: the type leaves them out.
    this.#ended = joined.getMetricsAsArray() as MetricsSnapshot;
  }

  /**
   * The text format of Prometheus.
   *
   * @param own metrics of the process that joins the others.
   */
  text(own: MetricsSnapshot): Promise<string> {
    return AggregatorRegistry.aggregate([...this.#last.values(), this.#ended, own]).metrics();
  }
}

/** Whether values are those of a counter or a histogram; others say how something is now. */
function isCounted({ type }: { readonly type: unknown }): boolean {
  return type === "counter" || type === "histogram";
}
