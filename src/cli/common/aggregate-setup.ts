import type { ProcessPlace, SessionObserver } from "../../aggregate/session.ts";
import type { Endpoint, EndpointState } from "../../aggregate/upstream.ts";
import { MemgatorLogFile } from "../../aggregate/memgator-events.ts";
import { type OpenAggregator, openAggregator } from "../../aggregate/service/open-aggregator.ts";
import { ProxySettings } from "../../http/proxy-settings.ts";
import { mapFilesOf } from "../../aggregate/route/map-keeper.ts";
import { openDiskStore } from "../../aggregate/upstream/disk-store.ts";
import type { CacheOptions } from "../../aggregate/upstream/http-cache.ts";
import { MemoryStore } from "../../aggregate/upstream/cache-store.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import type { Log } from "../../http/log.ts";
import type { AGGREGATE_OPTIONS } from "./aggregate-options.ts";
import type { OptionValues } from "./command.ts";
import type { Io } from "./io.ts";
import { listedArchives } from "./listed-archives.ts";
import { guardLogs } from "./server-options.ts";
import { variableOf } from "./settings.ts";

const DEADLINE_MARGIN_MS = 250;

/** The settings of `aggregate`. */
export type AggregateValues = OptionValues<typeof AGGREGATE_OPTIONS>;

/** An aggregator as the settings want it, and the log it writes. */
export interface SetUpAggregator {
  readonly open: OpenAggregator;
  readonly archives: readonly Archive[];
  readonly logFile: MemgatorLogFile | undefined;
  close(): Promise<void>;
}

/**
 * Makes an aggregator of settings.
 *
 * @throws MM_USAGE without a list of archives, and for a map of one that is not in it; what is wrong
 *   with the list.
 */
export async function setUpAggregator(
  values: AggregateValues,
  io: Io,
  {
    log,
    observers = [],
    place,
  }: {
    readonly log: Log;
    readonly observers?: readonly SessionObserver[];
    /** Which of several processes this is; default the only one. */
    readonly place?: ProcessPlace | undefined;
  },
): Promise<SetUpAggregator> {
  const archives = await listedArchives("aggregate", values, io);
  await guardLogs(
    [values.log, values["combined-log"]],
    [values.archives, values.config ?? io.env[variableOf("config")], ...mapFilesOf(archives)],
  );
  const logFile =
    values.log === undefined
      ? undefined
      : new MemgatorLogFile(values.log, {
          onError: (error) =>
            log.event("error", "the log cannot be written", { reason: error.message }),
        });
  const cache = await cacheOf(values, log);
  const proxies = ProxySettings.of(io.env);
  const open = await openAggregator({
    archives,
    isRouting: !values["no-routing"],
    sampleShare: values.sample,
    maps: {
      folder: values.state,
      maxMapAgeMs: values["map-age"],
      maxShrink: values["max-shrink"],
      // Archives are asked once for their maps, whatever the number of processes.
      isFetching: place === undefined || place.number === 1,
      fetch: { allowsPrivate: values["allow-private"], proxies, interrupt: io.interrupt },
      onFailure: (archive, error) => {
        log.event("error", "no new map", { archive: archive.id, reason: error.describe() });
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
      concurrency: values.concurrency,
      share: place === undefined ? 1 : 1 / place.count,
      queueTimeoutMs: values["queue-timeout"],
      rate: values["archive-rate"] === 0 ? undefined : values["archive-rate"],
      retries: values.retries,
      tolerance: values.tolerance,
      longestDormantMs: values.dormant,
      allowsPrivate: values["allow-private"],
      proxies,
      cache,
      onChange: (archive, state, endpoint) => noteState(archive, endpoint, state, log, logFile),
    },
    aggregator: {
      // Later than that of each request, which makes archives dormant that are late too often.
      deadlineMs: values.timeout + DEADLINE_MARGIN_MS,
      place,
      limits: { maxBytes: values["max-timemap"] },
      observers: logFile === undefined ? observers : [logFile, ...observers],
    },
  });
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

async function cacheOf(values: AggregateValues, log: Log): Promise<CacheOptions | "off"> {
  const maxBytes = values.cache;
  if (maxBytes === 0) return "off";
  const folder = values["cache-dir"];
  return {
    store:
      folder === undefined
        ? new MemoryStore({ maxBytes })
        : await openDiskStore(folder, {
            maxBytes,
            onError: (error) =>
              log.event("error", "an answer is not kept", { reason: error.message }),
          }),
    freshMs: values["cache-time"],
    negativeMs: values["miss-time"],
  };
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
  log.event("error", "archive is left alone", {
    archive: archive.id,
    endpoint,
    failures: consecutiveFailures,
    until: dormantUntil === undefined ? undefined : new Date(dormantUntil).toISOString(),
    reason: lastFailure,
  });
  logFile?.slept(archive, consecutiveFailures);
}
