import { join } from "node:path";
import { availableParallelism } from "node:os";
import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { ProcessPlace } from "../../aggregate/session.ts";
import { mementoClient } from "../../aggregate/service/answer-proxy.ts";
import { WorkerLink } from "../../files/processes/worker-link.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { userAgent } from "../../files/package-file.ts";
import { AggregatorService } from "../../aggregate/service/aggregator-service.ts";
import { AggregatorMetrics } from "../../aggregate/service/aggregator-metrics.ts";
import {
  type ServiceProcesses,
  ServiceStatus,
  type StatusSnapshot,
} from "../../aggregate/service/service-status.ts";
import { Monitor } from "../../aggregate/memgator-events.ts";
import { RateLimit } from "../../http/listen.ts";
import {
  AggregateReload,
  type AggregateValues,
  setUpAggregator,
  TAKEN_AT_ONCE,
} from "./aggregate-setup.ts";
import { ExitCode, type Io } from "./io.ts";
import { listeningLine, openServiceLog, reloader, runService } from "./server-shell.ts";
import { formatDuration } from "./messages.ts";
import { Supervisor } from "../../files/processes/supervisor.ts";
import type { MetricsSnapshot } from "../../http/metrics.ts";
import { usage } from "./command-line.ts";

/** A client may have to wait as long as the archives may take, and a little more. */
const MARGIN_MS = 15_000;

const START_TIME = "process_start_time_seconds";

/** What a worker process is told at its start. */
interface WorkerStart {
  readonly place: ProcessPlace;
  readonly values: AggregateValues;
}

interface OneOfWorkers {
  readonly link: WorkerLink;
  readonly place: ProcessPlace;
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
  const { place, values } = (await link.start()) as WorkerStart;
  const taken = Object.fromEntries(TAKEN_AT_ONCE.map((name) => [name, now[name]]));
  const { state } = values;
  const own = { ...values, ...taken };
  return serveAggregator(own, io, () => ({ ...reread(), state }), { link, place });
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
  const monitor = values.monitor ? new Monitor() : undefined;
  const metrics = new AggregatorMetrics();
  metrics.readProcess();
  const observers = monitor === undefined ? [metrics] : [metrics, monitor];
  const setUp = await setUpAggregator(own, io, { log, observers, place: worker?.place });
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
      rateLimit: values.rate === 0 ? undefined : new RateLimit({ perSecond: values.rate }),
      prefix: values.prefix,
      trustedProxies: values["trust-proxy"],
      processes: worker && processesOf(worker, () => service),
      log,
    });
    worker?.link.answer("status", () => service.snapshot());
    worker?.link.answer("metrics", () => metrics.snapshot());
    await runService(service, io, {
      values,
      limits: {
        maxConnections: own["max-connections"],
        idleTimeoutMs: values.timeout + MARGIN_MS,
        graceMs: values.grace,
      },
      log,
      onReady: worker && ((addresses) => worker.link.ready(addresses)),
      onStopping: () => monitor?.close(),
    });
  } finally {
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

/** What the workers know together; only what this one knows, where the primary process is silent. */
function processesOf(
  { link, place }: OneOfWorkers,
  service: () => AggregatorService,
): ServiceProcesses {
  return {
    async status() {
      // As superviseAggregators joins them.
      const snapshots = (await link.collect("status")) as readonly StatusSnapshot[] | undefined;
      const known =
        snapshots === undefined || snapshots.length === 0 ? [service().snapshot()] : snapshots;
      return { snapshots: known, workers: { wanted: place.count, running: known.length } };
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

/** Each worker has a copy of the maps in memory, so that a machine of 64 cores does not get 64. */
const MOST_BY_DEFAULT = 4;

/** One worker for each core, up to a limit; 1 where the program cannot be started once more. */
export function defaultWorkers({ program }: Io): number {
  return program === undefined ? 1 : Math.min(MOST_BY_DEFAULT, availableParallelism());
}

/**
 * Runs the service in several processes until it is told to stop. This one answers no requests: it
 * starts and replaces the workers, and puts together what they know.
 *
 * @throws MM_USAGE where the program cannot be started once more.
 */
export async function superviseAggregators(
  values: AggregateValues & { readonly workers: number },
  io: Io,
): Promise<ExitCode> {
  const { program } = io;
  if (program === undefined) throw usage("aggregate", "--workers needs the program mementomap");
  const count = values.workers;
  const { log } = openServiceLog(io, { what: values["access-log"], isQuiet: true });
  const metrics = new JoinedMetrics();
  const supervisor: Supervisor = new Supervisor({
    program,
    count,
    startOf: (number): WorkerStart => ({ place: { number, count }, values }),
    onReady(value) {
      // As serveAggregator sends it.
      const addresses = value as { url: string; metrics: string | undefined };
      io.stdout.write(listeningLine(addresses, values.json));
    },
    onOutput: (stream, lines) => io[stream].write(lines),
    onEnd: (number) => metrics.end(number),
    onEvent: (level, message, members) => log.event(level, message, members),
    async join(what, answers) {
      if (what !== "metrics") return [...answers.values()];
      for (const [number, snapshot] of answers) metrics.take(number, snapshot as MetricsSnapshot);
      return metrics.text(await registry.getMetricsAsJSON());
    },
    graceMs: values.grace,
  });
  const registry = workerMetrics(supervisor);
  const { signal } = io.interrupt;
  const stop = (): void => supervisor.stop();
  const offHangUp = io.onHangUp?.(() => supervisor.reload());
  signal.addEventListener("abort", stop, { once: true });
  try {
    const running = supervisor.run();
    if (signal.aborted) stop();
    const { reason } = await running;
    return reason === "stopped" ? ExitCode.ok : ExitCode.failed;
  } finally {
    signal.removeEventListener("abort", stop);
    offHangUp?.();
    log.flush();
  }
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
