import { join } from "node:path";
import type { ProcessPlace } from "../../aggregate/session.ts";
import { restoreSnapshot, snapshotOf } from "../../aggregate/learn/snapshot.ts";
import { mementoClient } from "../../aggregate/service/answer-proxy.ts";
import { JOINING, REPLACING, WorkerLink } from "../../files/processes/worker-link.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { userAgent } from "../../files/package-file.ts";
import { AggregatorService } from "../../aggregate/service/aggregator-service.ts";
import { AggregatorMetrics } from "../../aggregate/service/aggregator-metrics.ts";
import { type ServiceProcesses, ServiceStatus } from "../../aggregate/service/service-status.ts";
import { SharedRateLimit } from "../../aggregate/service/shared-rate.ts";
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
import {
  fixedOf,
  type Handover,
  type KnownStatus,
  type WorkerStart,
} from "./aggregate-supervise.ts";
import { ExitCode, type Io } from "./io.ts";
import { openServiceLog, reloader, runService } from "./server-shell.ts";
import { formatDuration } from "./messages.ts";

/** A client may have to wait as long as the archives may take, and a little more. */
const MARGIN_MS = 15_000;

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
  const peers = worker && peersOf(worker, values);
  let forgetAnswers: (() => void) | undefined;
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
    forgetAnswers?.();
  });
  const offHangUp = io.onHangUp?.(onHangUp);
  const offReload = worker?.link.onReload(onHangUp);
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
      // What is logged and shown is every lookup.
      repeatsAnswers: values.cache !== 0 && values.log === undefined && monitor === undefined,
      learntMaps: open.learntMaps,
      keeper: open.keeper,
      log,
    });
    forgetAnswers = () => service.forgetAnswers();
    worker?.link.answer("status", () => service.snapshot());
    worker?.link.answer("metrics", () => metrics.snapshot());
    setUp.memory?.restore(worker?.handover?.cache ?? []);
    peers?.holders.restore(worker?.handover?.holders ?? new Uint32Array(0));
    const { learner } = open;
    if (learner !== undefined && worker?.learnt !== undefined) {
      restoreSnapshot(learner, worker.learnt, "another worker");
    }
    worker?.link.answer(JOINING, () => learner && snapshotOf(learner));
    worker?.link.answer(REPLACING, async (): Promise<Handover> => {
      await open.keeper.stop();
      await open.saveLearnt();
      return { cache: setUp.memory?.dump() ?? [], holders: peers?.holders.dump() };
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
    ownersAnswer: values["cache-dir"] !== undefined,
  });
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
