import type { ProcessPlace, SessionObserver } from "../../aggregate/session.ts";
import type { Endpoint, EndpointState } from "../../aggregate/ask/state.ts";
import { MemgatorLogFile } from "../../aggregate/memgator-events.ts";
import { type OpenAggregator, openAggregator } from "../../aggregate/service/open-aggregator.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { mapFilesOf } from "../../aggregate/route/map-keeper.ts";
import { contradictionText } from "../../aggregate/service/health.ts";
import { type Cache, memoryCache } from "../../aggregate/ask/cache.ts";
import { lmdbCache } from "../../aggregate/ask/lmdb-cache.ts";
import { makeFolder } from "../../files/make-folder.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import type { Log } from "../../http/log.ts";
import { type AggregateValues, learningOf, listedArchives } from "./aggregate-options.ts";
import { variableOf } from "./command-line.ts";
import type { Io } from "./io.ts";
import { guardServiceFiles } from "./server-shell.ts";
import type { MementoMapError } from "../../errors.ts";

/** Reserve, so that archives that time out are named with their errors. */
const DEADLINE_MARGIN_MS = 250;

/** An aggregator set up by its settings, and its log. */
interface SetUpAggregator {
  readonly open: OpenAggregator;
  readonly archives: readonly Archive[];
  readonly logFile: MemgatorLogFile | undefined;
  close(): Promise<void>;
}

/**
 * Creates an aggregator from settings.
 *
 * @throws MM_USAGE without a list of archives, and for a map of an archive that is not in it; the errors of
 *   the list.
 */
export async function setUpAggregator(
  values: AggregateValues,
  io: Io,
  {
    log,
    observers = [],
    place,
    onNoMap,
    isOnce = false,
  }: {
    readonly log: Log;
    /** Called for an archive whose map cannot be fetched or is rejected. */
    readonly onNoMap?: ((archive: Archive, error: MementoMapError) => void) | undefined;
    readonly observers?: readonly SessionObserver[];
    /** Whether it is for a single lookup, which needs no samples; default false. */
    readonly isOnce?: boolean;
    /** Which of several processes this is; default the only one. */
    readonly place?: ProcessPlace | undefined;
  },
): Promise<SetUpAggregator> {
  const onFault = (message: string, reason: string): void =>
    log.event("error", message, { reason });
  const learning = learningOf(values);
  const isFirst = place === undefined || place.number === 1;
  const archives = await listedArchives("aggregate", values, io);
  // The learnt state is stored there too, even if no archive has a map.
  if (values.state !== undefined) await makeFolder(values.state);
  await guardServiceFiles({ logs: [values.log, values["access-log"]], learnt: learning?.file }, [
    values.archives,
    values.config ?? io.env[variableOf("config")],
    ...mapFilesOf(archives),
    ...(learning?.logs ?? []),
  ]);
  const logFile =
    values.log === undefined
      ? undefined
      : new MemgatorLogFile(values.log, {
          onError: (error) =>
            log.event("error", "the log cannot be written", { reason: error.message }),
        });
  const share = place === undefined ? 1 : 1 / place.count;
  const cache = await cacheOf(values, share, log);
  const proxies = ProxySettings.of(io.env);
  const open = await openAggregator({
    archives,
    learn: learning && {
      ...learning,
      isSaving: isFirst,
      signal: io.interrupt.signal,
      onStaleMap: (archive, stale) => {
        log.event("error", "map is stale", { archive, reason: contradictionText(stale) });
      },
      onFault: isFirst ? onFault : undefined,
    },
    isRouting: !values["no-routing"],
    sampleShare: isOnce ? 0 : values.sample,
    maps: {
      folder: values.state,
      maxMapAgeMs: values["map-age"],
      maxMemoryBytes: values["map-memory"],
      maxShrink: values["max-shrink"],
      // Only one process fetches maps from archives.
      isFetching: isFirst,
      fetch: { allowsPrivate: values["allow-private"], proxies, interrupt: io.interrupt },
      onFailure: (archive, error) => {
        log.event("error", "map update failed", { archive: archive.id, reason: error.describe() });
        onNoMap?.(archive, error);
      },
      onFault: (error) => {
        log.event("error", "the maps cannot be refreshed", { reason: error.describe() });
      },
    },
    upstream: {
      contact: values.contact,
      agent: values.agent,
      connectTimeoutMs: values["connect-timeout"],
      headersTimeoutMs: values["headers-timeout"],
      totalTimeoutMs: values.timeout,
      share,
      tolerance: values.tolerance,
      longestDormantMs: values.dormant,
      allowsPrivate: values["allow-private"],
      proxies,
      cache,
      limits: { maxBytes: values["max-timemap"] },
      lifetimes: { freshMs: values["cache-time"], missMs: values["miss-time"] },
      onChange: (archive, state, endpoint) => noteState(archive, endpoint, state, log, logFile),
    },
    aggregator: {
      deadlineMs: values["answer-within"] ?? values.timeout + DEADLINE_MARGIN_MS,
      place,
      observers: logFile === undefined ? observers : [logFile, ...observers],
    },
  });
  const answers = open.learner?.observations ?? 0;
  if (isFirst && answers > 0) log.event("info", "restored learned state", { answers });
  return {
    open,
    archives,
    logFile,
    async close() {
      await open.close();
      logFile?.close();
    },
  };
}

/**
 * A cache in the folder of the service, if that is permanent; otherwise in memory.
 *
 * @param share the fraction of memory for this process.
 */
async function cacheOf(values: AggregateValues, share: number, log: Log): Promise<Cache | "off"> {
  const maxBytes = values.cache;
  if (maxBytes === 0) return "off";
  if (values.state !== undefined && values.isStateTemporary !== true) {
    const kept = await lmdbCache(values.state, {
      maxBytes,
      onError: ({ message }) => log.event("error", "answer not cached", { reason: message }),
    });
    if (kept !== undefined) return kept;
    log.event("info", "using a memory cache", { reason: "the package lmdb is not installed" });
  }
  return memoryCache(Math.floor(maxBytes * share));
}

function noteState(
  archive: Archive,
  endpoint: Endpoint,
  { health, consecutiveFailures, dormantUntil, lastFailure }: EndpointState,
  log: Log,
  logFile: MemgatorLogFile | undefined,
): void {
  if (health === "probing") return;
  if (health === "awake") {
    log.event("info", "archive is awake", { archive: archive.id, endpoint });
    logFile?.woke(archive);
    return;
  }
  log.event("error", "archive is dormant", {
    archive: archive.id,
    endpoint,
    failures: consecutiveFailures,
    until: dormantUntil === undefined ? undefined : new Date(dormantUntil).toISOString(),
    reason: lastFailure,
  });
  logFile?.slept(archive, consecutiveFailures);
}
