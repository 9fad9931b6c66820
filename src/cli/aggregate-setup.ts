import type { SessionObserver } from "../aggregate/session.ts";
import type { UpstreamState } from "../aggregate/upstream.ts";
import { MementoMapError, quote } from "../errors.ts";
import { parsePaddedDatetime } from "../memento/datetime.ts";
import { lastSecondOf } from "../memento/last-second.ts";
import { MemgatorLogFile } from "../node/aggregate/memgator-log-file.ts";
import { type OpenAggregator, openAggregator } from "../node/aggregate/open-aggregator.ts";
import { loadArchives } from "../node/route/load-archives.ts";
import { openDiskStore } from "../node/upstream/disk-store.ts";
import type { CacheOptions } from "../node/upstream/http-cache.ts";
import { MemoryStore } from "../node/upstream/memory-store.ts";
import type { Archive } from "../route/archive.ts";
import type { RouteRequest } from "../route/decision.ts";
import type { Log } from "../server/log.ts";
import type { AGGREGATE_OPTIONS } from "./aggregate-options.ts";
import { usage } from "./command-line.ts";
import type { OptionValues } from "./command.ts";
import type { Io } from "./io.ts";

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
  { log, observers = [] }: { readonly log: Log; readonly observers?: readonly SessionObserver[] },
): Promise<SetUpAggregator> {
  const place = values.archives;
  if (place === undefined) {
    throw usage(
      "aggregate",
      "name the list of archives with --archives FILE; MemGator's archives.json will do",
    );
  }
  const list = await loadArchives(place, { signal: io.interrupt.signal });
  checkIds(
    list,
    "--map",
    values.map.map(({ id }) => id),
  );
  checkIds(list, "--only", values.only);
  checkIds(list, "--except", values.except);
  const archives = withMaps(list, values.map);
  const logFile =
    values.log === undefined
      ? undefined
      : new MemgatorLogFile(values.log, {
          onError: (error) =>
            log.event("error", "the log cannot be written", { reason: error.message }),
        });
  const cache = await cacheOf(values, log);
  const open = await openAggregator({
    archives,
    isRouting: !values["no-routing"],
    sampleShare: values.sample,
    maps: {
      folder: values.state,
      maxMapAgeMs: values["map-age"],
      onFailure: (archive, error) => {
        log.event("error", "no new map", { archive: archive.id, reason: error.describe() });
      },
    },
    upstream: {
      contact: values.contact,
      agent: values.agent,
      connectTimeoutMs: values["connect-timeout"],
      headersTimeoutMs: values["headers-timeout"],
      totalTimeoutMs: values.timeout,
      concurrency: values.concurrency,
      rate: values["archive-rate"] === 0 ? undefined : values["archive-rate"],
      retries: values.retries,
      tolerance: values.tolerance,
      longestDormantMs: values.dormant,
      allowsPrivate: values["allow-private"],
      cache,
      onChange: (archive, state) => noteState(archive, state, log, logFile),
    },
    aggregator: {
      // Later than that of each request, which makes archives dormant that are late too often.
      deadlineMs: values.timeout + DEADLINE_MARGIN_MS,
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

/** What is asked of every request, unless it says otherwise itself. */
export function routeDefaults(values: AggregateValues): Omit<RouteRequest, "uri"> {
  const { only, except, from, until } = values;
  return {
    ...(only.length > 0 ? { only } : {}),
    ...(except.length > 0 ? { except } : {}),
    ...(from === undefined ? {} : { from: parsePaddedDatetime(from) }),
    ...(until === undefined ? {} : { until: lastSecondOf(until) }),
    ...(values["top-k"] === undefined ? {} : { topK: values["top-k"] }),
    ...(values["min-likelihood"] === undefined ? {} : { minLikelihood: values["min-likelihood"] }),
  };
}

/** @throws MM_USAGE for an id that is not in the list. */
function checkIds(archives: readonly Archive[], option: string, ids: readonly string[]): void {
  for (const id of ids) {
    if (archives.some((archive) => archive.id === id)) continue;
    const known = archives.slice(0, 20).map((archive) => quote(archive.id));
    throw new MementoMapError(
      "MM_USAGE",
      `${option}: there is no archive ${quote(id)}; the list has ${known.join(", ") || "none"}`,
    );
  }
}

function withMaps(archives: readonly Archive[], maps: AggregateValues["map"]): readonly Archive[] {
  return archives.map((archive) => {
    const own = maps.findLast(({ id }) => id === archive.id);
    return own === undefined ? archive : { ...archive, mementomap: own.map };
  });
}

function noteState(
  archive: Archive,
  { health, consecutiveFailures, dormantUntil, lastFailure }: UpstreamState,
  log: Log,
  logFile: MemgatorLogFile | undefined,
): void {
  if (health === "probing") return;
  if (health === "awake") {
    log.event("info", "archive is awake", { archive: archive.id });
    logFile?.woke(archive);
    return;
  }
  log.event("error", "archive is left alone", {
    archive: archive.id,
    failures: consecutiveFailures,
    until: dormantUntil === undefined ? undefined : new Date(dormantUntil).toISOString(),
    reason: lastFailure,
  });
  logFile?.slept(archive, consecutiveFailures);
}
