import { NodeClient } from "../node/fetch/node-client.ts";
import { ProxySettings } from "../node/proxy/proxy-settings.ts";
import { packageVersion } from "../node/package-version.ts";
import type { Archive } from "../route/archive.ts";
import { AggregatorService } from "../server/aggregator/aggregator-service.ts";
import { AggregatorMetrics } from "../server/aggregator/aggregator-metrics.ts";
import { Monitor } from "../server/aggregator/monitor.ts";
import { ServiceStatus } from "../server/aggregator/service-status.ts";
import { listen, type Listening } from "../server/listen.ts";
import { JsonLog } from "../server/log.ts";
import { RateLimit } from "../server/rate-limit.ts";
import { AggregateReload } from "./aggregate-reload.ts";
import { type AggregateValues, setUpAggregator } from "./aggregate-setup.ts";
import { ExitCode, type Io } from "./io.ts";
import { listenForMonitoring, listeningLine } from "./listening.ts";
import { accessLogOf } from "./server-options.ts";
import { formatDuration } from "./sizes.ts";

/** A client may have to wait as long as the archives may take, and a little more. */
const MARGIN_MS = 15_000;

/**
 * Runs the service until it is told to stop.
 *
 * @param reread gives the values as they are now, of which some hold at once.
 */
export async function serveAggregator(
  values: AggregateValues & { readonly json: boolean; readonly quiet: boolean },
  io: Io,
  reread: () => AggregateValues,
): Promise<ExitCode> {
  const wanted = values["access-log"];
  const accessLog = accessLogOf(values["combined-log"], (reason) =>
    log.event("error", "the access log cannot be written", { reason }),
  );
  const log: JsonLog = new JsonLog(
    (text) => {
      if (wanted !== "nothing") io.stderr.write(text);
    },
    { requests: wanted === "requests" && !values.quiet, accessLog },
  );
  const monitor = values.monitor ? new Monitor() : undefined;
  const metrics = new AggregatorMetrics();
  metrics.readProcess();
  const observers = monitor === undefined ? [metrics] : [metrics, monitor];
  const setUp = await setUpAggregator(values, io, { log, observers });
  const { open, logFile } = setUp;
  const reload = new AggregateReload({ values, reread, setUp, log }, io);
  const client = new NodeClient({
    trustedOrigins: { includes: (origin) => reload.archives.some(isOfOrigin(origin)) },
    allowsPrivate: values["allow-private"],
    proxies: ProxySettings.of(io.env),
    headersTimeoutMs: values["headers-timeout"],
  });
  const offHangUp = io.onHangUp?.(() => {
    try {
      logFile?.reopen();
      log.event("info", "took up files anew");
    } catch (error) {
      log.event("error", "the log cannot be opened anew", { reason: String(error) });
    }
    // The list first: it may name other maps.
    void reload.reload().then(() => open.keeper.refresh());
  });
  let monitoring: Listening | undefined;
  try {
    await reload.start();
    const service = new AggregatorService({
      aggregator: open.aggregator,
      status: new ServiceStatus({
        get archives() {
          return reload.archives;
        },
        upstream: open.upstream,
        tallies: open.tallies,
        estimate: open.estimate,
        mapStateOf: (archive) => open.keeper.stateOf(archive),
        countersOf: ({ id }) => open.upstream.counters.get(id),
        isRouting: open.isRouting,
        listState: () => reload.state,
        get settings() {
          return shownSettings(reload.values);
        },
      }),
      client,
      get defaults() {
        return reload.wishes;
      },
      base: values.base,
      root: values.root,
      monitor,
      metrics,
      servesMetrics: values["metrics-port"] === undefined,
      pageSize: values["page-size"],
      maxAgeSeconds: Math.round(values["max-age"] / 1000),
      maxProxyBytes: values["max-proxy"],
      maxUnderWay: values["max-requests"],
      maxWaiting: values["max-waiting"],
      rateLimit: values.rate === 0 ? undefined : new RateLimit({ perSecond: values.rate }),
      prefix: values.prefix,
      trustedProxies: values["trust-proxy"],
      log,
    });
    monitoring = await listenForMonitoring(service, values);
    const server = await listen(service, {
      port: values.port,
      host: values.host,
      limits: {
        maxConnections: values["max-connections"],
        idleTimeoutMs: values.timeout + MARGIN_MS,
        graceMs: values.grace,
      },
      onError: (error) =>
        log.event("error", "a connection was not taken", { reason: error.describe() }),
    });
    io.stdout.write(listeningLine(server, monitoring, values.json));
    await interrupted(io);
    log.event("info", "stopping");
    monitor?.close();
    await server.stop();
  } finally {
    offHangUp?.();
    await monitoring?.stop();
    reload.stop();
    client.close();
    await setUp.close();
    accessLog?.flush();
    log.flush();
  }
  return ExitCode.ok;
}

function isOfOrigin(origin: string): (archive: Archive) => boolean {
  return ({ timemap, timegate }) =>
    [timemap, timegate].some(
      (address) => address !== undefined && new URL(address).origin === origin,
    );
}

function interrupted({ interrupt }: Io): Promise<void> {
  return new Promise((resolve) => {
    if (interrupt.signal.aborted) resolve();
    else interrupt.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** What `/about` shows of the settings: what clients and archives may wonder about. */
function shownSettings(values: AggregateValues): Record<string, string> {
  return {
    "List of archives": values.archives ?? "",
    "User-Agent": values.agent ?? defaultAgent(values.contact),
    Timeout: formatDuration(values.timeout),
    "Headers timeout": formatDuration(values["headers-timeout"]),
    "Connect timeout": formatDuration(values["connect-timeout"]),
    "Failure tolerance": values.tolerance === Infinity ? "any" : String(values.tolerance),
    "Dormant at most": formatDuration(values.dormant),
    "Requests to an archive": String(values.concurrency),
    Sampled: `${values.sample * 100} %`,
    ...(values["top-k"] === undefined ? {} : { "Top archives": String(values["top-k"]) }),
  };
}

function defaultAgent(contact: string | undefined): string {
  return `mementomap/${packageVersion()}${contact === undefined ? "" : ` (+${contact})`}`;
}
