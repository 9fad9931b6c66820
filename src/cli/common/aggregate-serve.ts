import { formatDuration } from "../../format.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import { mementoClient } from "../../aggregate/service/memento.ts";
import { isWorkerProcess, Primary, WorkerLink } from "../../aggregate/service/cluster.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { withoutCredentials } from "../../errors.ts";
import { userAgent } from "../../files/package-file.ts";
import { AggregatorService } from "../../aggregate/service/aggregator-service.ts";
import { AggregatorMetrics } from "../../aggregate/service/aggregator-metrics.ts";
import { Monitor } from "../../aggregate/service/stream.ts";
import { RateLimit } from "../../http/rate-limit.ts";
import type { AggregateValues } from "./aggregate-options.ts";
import { AggregateReload } from "./aggregate-reload.ts";
import { setUpAggregator } from "./aggregate-setup.ts";
import { usage, variableOf } from "./command-line.ts";
import { ExitCode, type Io } from "./io.ts";
import { listeningLine, openServiceLog, reloader, runService } from "./server-shell.ts";

/** Used if the limit of open files permits it. */
const MAX_CONNECTIONS = 20_000;

/** How long requests in flight may take after a stop. */
const GRACE_MS = 10_000;

/** A client may wait for as long as the archives may take, plus this. */
const MARGIN_MS = 15_000;

/**
 * Runs the service until it is told to stop: in this process, or in as many workers as `--workers` says.
 *
 * @param reread returns the current values; some take effect at once.
 * @throws MM_USAGE if workers are requested and the program cannot be started again.
 */
export function serveAggregator(
  values: AggregateValues & { readonly state: string },
  io: Io,
  reread: () => AggregateValues,
): Promise<ExitCode> {
  const { state, isStateTemporary } = values;
  const readAgain = (): AggregateValues => ({ ...reread(), state, isStateTemporary });
  if (isWorkerProcess()) {
    const link = new WorkerLink(io.env, () => io.interrupt.trigger("the primary process"));
    return serveHere(values, io, readAgain, link);
  }
  return values.workers > 1 ? serveByWorkers(values, io) : serveHere(values, io, readAgain);
}

async function serveByWorkers(
  values: AggregateValues & { readonly state: string },
  io: Io,
): Promise<ExitCode> {
  const { program } = io;
  if (program === undefined) throw usage("aggregate", "--workers requires the program mementomap");
  const { log } = openServiceLog(io);
  const primary = new Primary({
    program,
    count: values.workers,
    env: { [variableOf("state")]: values.state },
    graceMs: GRACE_MS,
    onReady(value) {
      // Sent by serveHere.
      const addresses = value as { url: string; metrics: string | undefined };
      io.stdout.write(listeningLine(addresses, values.json));
    },
    log,
  });
  const { signal } = io.interrupt;
  const stop = (): void => primary.stop();
  const offHangUp = io.onHangUp?.(() => primary.reload());
  signal.addEventListener("abort", stop, { once: true });
  try {
    const running = primary.run();
    if (signal.aborted) stop();
    return (await running) ? ExitCode.ok : ExitCode.failed;
  } finally {
    signal.removeEventListener("abort", stop);
    offHangUp?.();
    log.flush();
  }
}

async function serveHere(
  values: AggregateValues,
  io: Io,
  reread: () => AggregateValues,
  link?: WorkerLink,
): Promise<ExitCode> {
  const logs = openServiceLog(io, {
    accessLog: values["access-log"],
    members: link && { worker: link.place.number },
  });
  const { log } = logs;
  const monitor = values.monitor ? new Monitor() : undefined;
  const metrics = new AggregatorMetrics();
  metrics.readProcess();
  link?.expose(metrics.registry);
  const observers = monitor === undefined ? [metrics] : [metrics, monitor];
  const setUp = await setUpAggregator(values, io, { log, observers, place: link?.place });
  const { open, logFile, archives } = setUp;
  const replaceArchives = (next: readonly Archive[]): Promise<void> => open.replaceArchives(next);
  const reload = new AggregateReload({ values, reread, archives, replaceArchives, log }, io);
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
  if (link !== undefined) link.onReload = onHangUp;
  try {
    await reload.start();
    const service = new AggregatorService({
      open,
      get list() {
        return reload.state;
      },
      get settings() {
        return shownSettings(reload.values);
      },
      client,
      get defaults() {
        return reload.preferences;
      },
      base: values.base,
      ignoresForced: values["ignore-forced"],
      monitor,
      metrics,
      servesMetrics: values["metrics-port"] === undefined,
      maxAgeSeconds: Math.round(values["max-age"] / 1000),
      rateLimit: values.rate === 0 ? undefined : new RateLimit({ perSecond: values.rate }),
      trustedProxies: values["trust-proxy"],
      processes: link,
      log,
    });
    await runService(service, io, {
      port: values.port,
      host: values.host,
      metrics: values["metrics-port"],
      isJson: values.json,
      limits: {
        maxConnections: MAX_CONNECTIONS,
        idleTimeoutMs: values.timeout + MARGIN_MS,
        graceMs: GRACE_MS,
      },
      log,
      onReady: link && ((addresses) => link.ready(addresses)),
      onStopping: () => monitor?.close(),
    });
  } finally {
    offHangUp?.();
    reload.stop();
    client.close();
    await setUp.close();
    logs.flush();
  }
  return ExitCode.ok;
}

/** Settings shown at `/about`, of interest to clients and archives. */
function shownSettings(values: AggregateValues): Record<string, string> {
  return {
    "List of archives": withoutCredentials(values.archives ?? ""),
    "User-Agent": values.agent ?? userAgent(values.contact),
    Timeout: formatDuration(values.timeout),
    "Headers timeout": formatDuration(values["headers-timeout"]),
    "Connect timeout": formatDuration(values["connect-timeout"]),
    "Failure tolerance": values.tolerance === Infinity ? "any" : String(values.tolerance),
    "Dormant at most": formatDuration(values.dormant),
    Workers: String(values.workers),
    ...(values["top-k"] === undefined ? {} : { "Top archives": String(values["top-k"]) }),
  };
}
