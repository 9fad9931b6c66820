import { join } from "node:path";
import { availableParallelism } from "node:os";
import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { ProcessPlace } from "../../aggregate/session.ts";
import { mementoClient } from "../../aggregate/service/answer-proxy.ts";
import { REPLACING, WorkerLink } from "../../files/processes/worker-link.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { userAgent } from "../../files/package-file.ts";
import { AggregatorService } from "../../aggregate/service/aggregator-service.ts";
import { AggregatorMetrics } from "../../aggregate/service/aggregator-metrics.ts";
import {
  type ServiceProcesses,
  endedSnapshot,
  ServiceStatus,
  type StatusSnapshot,
} from "../../aggregate/service/service-status.ts";
import { SharedRateLimit } from "../../aggregate/service/shared-rate.ts";
import { TurnKeeper, type TurnRequest, TURNS_TOPIC } from "../../aggregate/upstream/turns.ts";
import { internalFault } from "../../errors.ts";
import { Peers } from "../../aggregate/service/peers.ts";
import { Monitor } from "../../aggregate/memgator-events.ts";
import { RateLimit } from "../../http/listen.ts";
import {
  AggregateReload,
  type AggregateValues,
  setUpAggregator,
  TAKEN_AT_ONCE,
} from "./aggregate-setup.ts";
import { MOST_WORKERS } from "./aggregate-options.ts";
import { ExitCode, type Io } from "./io.ts";
import { listeningLine, openServiceLog, reloader, runService } from "./server-shell.ts";
import { formatDuration } from "./messages.ts";
import { mostOpenFiles } from "../../files/open-files.ts";
import { type Program, Supervisor } from "../../files/processes/supervisor.ts";
import { withTempDir } from "../../files/scratch.ts";
import type { MetricsSnapshot } from "../../http/metrics.ts";
import { usage } from "./command-line.ts";

/** A client may have to wait as long as the archives may take, and a little more. */
const MARGIN_MS = 15_000;

/** How often the primary process asks workers for what they counted, in case they die. */
const NOTED_EVERY_MS = 2000;

const START_TIME = "process_start_time_seconds";

/** What a worker process is told at its start. */
interface WorkerStart {
  readonly place: ProcessPlace;
  readonly id: number;
  /** Where it listens for what other workers forward. */
  readonly socket: string;
  /** What the worker knew that this one replaces, if it could say. */
  readonly handover: Handover | undefined;
  readonly values: AggregateValues;
}

/** What a worker leaves to the one that replaces it. */
interface Handover {
  /** Its cache, as `MemoryStore` dumps it. */
  readonly cache: readonly Uint8Array[];
}

interface OneOfWorkers extends Omit<WorkerStart, "values"> {
  readonly link: WorkerLink;
}

/**
 * Runs the service as one of several processes, until the primary process tells it to stop.
 *
 * @param now the values as they are now. Those that want a restart are as the primary process began
 *   with, so that a worker that replaces another is like the rest.
 */
export async function serveAsWorker(
  now: AggregateValues,
  io: Io,
  reread: () => AggregateValues,
): Promise<ExitCode> {
  const link = new WorkerLink(() => io.interrupt.trigger("the primary process"));
  // The supervisor is of the same program.
  const { values, ...start } = (await link.start()) as WorkerStart;
  const taken = Object.fromEntries(TAKEN_AT_ONCE.map((name) => [name, now[name]]));
  const own = { ...values, ...taken };
  return serveAggregator(own, io, () => ({ ...reread(), ...fixedOf(values) }), { link, ...start });
}

/**
 * Runs the service until it is told to stop.
 *
 * @param reread gives the values as they are now; some take effect at once.
 */
export async function serveAggregator(
  values: AggregateValues,
  io: Io,
  reread: () => AggregateValues,
  worker?: OneOfWorkers,
): Promise<ExitCode> {
  const own = worker === undefined ? values : shareOf(values, worker.place);
  const logs = openServiceLog(io, {
    what: values["access-log"],
    isQuiet: values.quiet,
    accessLog: values["combined-log"],
    members: worker && { worker: worker.place.number },
  });
  const { log } = logs;
  const monitor = values.monitor ? monitorOf(worker) : undefined;
  const metrics = new AggregatorMetrics();
  metrics.readProcess();
  const observers = monitor === undefined ? [metrics] : [metrics, monitor];
  const setUp = await setUpAggregator(own, io, {
    log,
    observers,
    place: worker?.place,
    bus: worker?.link,
  });
  const { open, logFile } = setUp;
  const reload = new AggregateReload({ values, reread, setUp, log }, io);
  const client = mementoClient(open.aggregator.router, {
    allowsPrivate: values["allow-private"],
    proxies: ProxySettings.of(io.env),
    headersTimeoutMs: values["headers-timeout"],
  });
  const onHangUp = reloader(log, async () => {
    try {
      logFile?.reopen();
      log.event("info", "reopened files");
    } catch (error) {
      log.event("error", "the log cannot be reopened", { reason: String(error) });
    }
    // The list first: it may name other maps.
    await reload.reload();
    await open.keeper.refresh();
  });
  const offHangUp = io.onHangUp?.(onHangUp);
  const offReload = worker?.link.onReload(onHangUp);
  const peers = worker && peersOf(worker, values);
  let peersStopped: Promise<void> | undefined;
  try {
    await reload.start();
    const service: AggregatorService = new AggregatorService({
      aggregator: open.aggregator,
      status: new ServiceStatus({
        open,
        listState: () => reload.state,
        get settings() {
          return shownSettings(reload.values);
        },
      }),
      client,
      get defaults() {
        return reload.preferences;
      },
      base: values.base,
      root: values.root,
      monitor,
      metrics,
      servesMetrics: values["metrics-port"] === undefined,
      pageSize: values["page-size"],
      maxAgeSeconds: Math.round(values["max-age"] / 1000),
      maxProxyBytes: values["max-proxy"],
      maxUnderWay: own["max-requests"],
      maxWaiting: own["max-waiting"],
      rateLimit: rateLimitOf(values.rate, worker),
      prefix: values.prefix,
      trustedProxies: values["trust-proxy"],
      processes: worker && processesOf(worker, () => service),
      peers,
      log,
    });
    worker?.link.answer("status", () => service.snapshot());
    worker?.link.answer("metrics", () => metrics.snapshot());
    setUp.memory?.restore(worker?.handover?.cache ?? []);
    worker?.link.answer(REPLACING, async (): Promise<Handover> => {
      await open.keeper.stop();
      return { cache: setUp.memory?.dump() ?? [] };
    });
    try {
      await peers?.listen(service.forwarded);
    } catch (error) {
      // The others answer what they would forward.
      const reason = internalFault(error, "MM_IO").describe();
      log.event("error", "requests of other workers are not taken", { reason });
    }
    await runService(service, io, {
      values,
      limits: {
        maxConnections: own["max-connections"],
        idleTimeoutMs: values.timeout + MARGIN_MS,
        graceMs: values.grace,
      },
      log,
      onReady: worker && ((addresses) => worker.link.ready(addresses)),
      isGentle: () => worker?.link.isRetired === true,
      onStopping() {
        monitor?.close();
        peersStopped = peers?.stop();
      },
    });
    await peersStopped;
  } finally {
    peers?.close();
    offHangUp?.();
    offReload?.();
    reload.stop();
    client.close();
    await setUp.close();
    logs.flush();
  }
  return ExitCode.ok;
}

/** What a worker has of what is for the whole service. */
function shareOf(values: AggregateValues, { number, count }: ProcessPlace): AggregateValues {
  const folder = values["cache-dir"];
  return {
    ...values,
    cache: Math.floor(values.cache / count),
    // A folder of answers has one owner, which knows how much is in it.
    "cache-dir": folder === undefined ? undefined : join(folder, `worker-${number}`),
    "max-requests": Math.ceil(values["max-requests"] / count),
    "max-waiting": Math.ceil(values["max-waiting"] / count),
    "max-connections": Math.ceil(values["max-connections"] / count),
  };
}

function monitorOf(worker: OneOfWorkers | undefined): Monitor {
  return new Monitor(undefined, worker && { bus: worker.link, id: worker.id });
}

function rateLimitOf(perSecond: number, worker: OneOfWorkers | undefined): RateLimit | undefined {
  if (perSecond === 0) return undefined;
  return worker === undefined
    ? new RateLimit({ perSecond })
    : new SharedRateLimit({ perSecond }, worker.link);
}

function peersOf({ link, place, id, socket }: OneOfWorkers, values: AggregateValues): Peers {
  return new Peers({
    ...place,
    id,
    socket,
    bus: link,
    timeoutMs: values.timeout + MARGIN_MS,
    graceMs: values.grace,
  });
}

/** What workers answered, and how many serve. */
interface KnownStatus {
  readonly snapshots: readonly StatusSnapshot[];
  readonly ended: StatusSnapshot | undefined;
  readonly running: number;
}

const NOTHING_KNOWN: KnownStatus = { snapshots: [], ended: undefined, running: 1 };

/** What the workers know together; only what this one knows, where the primary process is silent. */
function processesOf(
  { link, place }: OneOfWorkers,
  service: () => AggregatorService,
): ServiceProcesses {
  return {
    async status() {
      // As superviseAggregators joins them.
      const known = (await link.collect("status")) as KnownStatus | undefined;
      const { snapshots, ended, running } = known ?? NOTHING_KNOWN;
      return {
        ended,
        snapshots: snapshots.length === 0 ? [service().snapshot()] : snapshots,
        workers: { wanted: place.count, running },
      };
    },
    async metrics() {
      const text = (await link.collect("metrics")) as string | undefined;
      return text ?? service().metrics.text();
    },
  };
}

/** What `/about` shows of the settings: what clients and archives may wonder about. */
function shownSettings(values: AggregateValues): Record<string, string> {
  return {
    "List of archives": values.archives ?? "",
    "User-Agent": values.agent ?? userAgent(values.contact),
    Timeout: formatDuration(values.timeout),
    "Headers timeout": formatDuration(values["headers-timeout"]),
    "Connect timeout": formatDuration(values["connect-timeout"]),
    "Failure tolerance": values.tolerance === Infinity ? "any" : String(values.tolerance),
    "Dormant at most": formatDuration(values.dormant),
    "Requests to an archive": String(values.concurrency),
    Sampled: `${values.sample * 100} %`,
    ...(values.workers === undefined ? {} : { Workers: String(values.workers) }),
    ...(values["top-k"] === undefined ? {} : { "Top archives": String(values["top-k"]) }),
  };
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
function fixedOf(values: AggregateValues): Partial<AggregateValues> {
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
    startOf: (number, id, handover): WorkerStart => ({
      // As serveAggregator answers.
      handover: handover as Handover | undefined,
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
