import { isDeepStrictEqual } from "node:util";
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
import { type Archive, isWebAddress } from "../../aggregate/route/archive.ts";
import type { Log } from "../../http/log.ts";
import {
  type AGGREGATE_OPTIONS,
  learningOf,
  listedArchives,
  routePreferences,
} from "./aggregate-options.ts";
import { variableOf } from "./command-line.ts";
import { warnAboutEmptyLogs } from "./learn-sources.ts";
import type { CommandValues } from "./command.ts";
import type { Io } from "./io.ts";
import { guardServiceFiles } from "./server-shell.ts";
import { MementoMapError } from "../../errors.ts";
import { ListKeeper, type ListState } from "../../aggregate/route/archive-list.ts";
import type { RouteRequest } from "../../aggregate/route/decision.ts";

/** Archives that take all the time they have are named with what is wrong with them. */
const DEADLINE_MARGIN_MS = 250;

export type AggregateValues = CommandValues<typeof AGGREGATE_OPTIONS> & {
  /** Whether the folder of `state` goes with the process. */
  readonly isStateTemporary?: boolean | undefined;
};

/** An aggregator as the settings want it, and the log it writes. */
interface SetUpAggregator {
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
    onNoMap,
    isOnce = false,
  }: {
    readonly log: Log;
    /** Told of an archive whose map cannot be fetched or is refused. */
    readonly onNoMap?: ((archive: Archive, error: MementoMapError) => void) | undefined;
    readonly observers?: readonly SessionObserver[];
    /** Whether it is for a single lookup, which is not worth a sample; default false. */
    readonly isOnce?: boolean;
    /** Which of several processes this is; default the only one. */
    readonly place?: ProcessPlace | undefined;
  },
): Promise<SetUpAggregator> {
  const onFault = faultLog(log);
  const learning = learningOf(values);
  const isFirst = place === undefined || place.number === 1;
  const archives = await listedArchives("aggregate", values, io, onFault, (source, maps) => {
    if (isFirst) log.event("info", "imported maps from another aggregator", { source, maps });
  });
  // What is learnt is kept there too, also where no archive has a map.
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
  const cache = await cacheOf(values, log);
  const proxies = ProxySettings.of(io.env);
  if (isFirst) await warnAboutEmptyLogs(learning?.logs ?? [], onFault);
  const open = await openAggregator({
    archives,
    learn: learning && {
      ...learning,
      isSaving: isFirst,
      signal: io.interrupt.signal,
      onStaleMap: (archive, stale) => {
        log.event("error", "map is stale", { archive, reason: contradictionText(stale) });
      },
      onFault,
    },
    isRouting: !values["no-routing"],
    sampleShare: isOnce ? 0 : values.sample,
    maps: {
      folder: values.state,
      maxMapAgeMs: values["map-age"],
      maxMemoryBytes: values["map-memory"],
      maxShrink: values["max-shrink"],
      // Archives are asked once for their maps, whatever the number of processes.
      isFetching: isFirst,
      fetch: { allowsPrivate: values["allow-private"], proxies, interrupt: io.interrupt },
      onFailure: (archive, error) => {
        log.event("error", "no new map", { archive: archive.id, reason: error.describe() });
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
      share: place === undefined ? 1 : 1 / place.count,
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

function faultLog(log: Log): (message: string, reason: string) => void {
  return (message, reason) => log.event("error", message, { reason });
}

/** In the folder of the service, where it has one that stays. */
async function cacheOf(values: AggregateValues, log: Log): Promise<Cache | "off"> {
  const maxBytes = values.cache;
  if (maxBytes === 0) return "off";
  if (values.state === undefined || values.isStateTemporary === true) return memoryCache(maxBytes);
  const kept = await lmdbCache(values.state, {
    maxBytes,
    onError: ({ message }) => log.event("error", "an answer is not kept", { reason: message }),
  });
  if (kept === undefined) {
    log.event("info", "the cache is in memory", { reason: "the package lmdb is not installed" });
  }
  return kept ?? memoryCache(maxBytes);
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

/** Settings that hold at once when they change; all others want a restart. */
const HOT_RELOADABLE = [
  "archives",
  "map",
  "only",
  "from",
  "until",
  "top-k",
] as const satisfies readonly (keyof AggregateValues)[];

/** A list on the Web is got again this often. */
const WEB_LIST_EVERY_MS = 3_600_000;

/** What a service needs to reload its list of archives and its settings. */
interface ReloadOptions {
  readonly values: AggregateValues;
  /** The settings as they are now. @throws what is wrong with them. */
  readonly reread: () => AggregateValues;
  readonly setUp: SetUpAggregator;
  readonly log: Log;
}

/**
 * Keeps a service by its list of archives and its settings as they are now.
 *
 * They are read again when their files change and when the service is told to. What is refused
 * changes nothing, and is in `state` and in the log.
 */
export class AggregateReload {
  readonly #options: ReloadOptions;
  readonly #io: Io;
  readonly #keeper: ListKeeper;
  #values: AggregateValues;
  #archives: readonly Archive[];
  #preferences: Omit<RouteRequest, "uri">;
  #waiting = "";

  constructor(options: ReloadOptions, io: Io) {
    this.#options = options;
    this.#io = io;
    this.#values = options.values;
    this.#archives = options.setUp.archives;
    this.#preferences = routePreferences(options.values);
    this.#keeper = new ListKeeper({
      files: () => this.#files(),
      take: () => this.#take(),
      takeEveryMs: WEB_LIST_EVERY_MS,
      onFailure: (error) => {
        options.log.event("error", "the list of archives or the settings are refused", {
          reason: error.describe(),
        });
      },
    });
  }

  get values(): AggregateValues {
    return this.#values;
  }

  /** The defaults for requests that state no preferences. */
  get preferences(): Omit<RouteRequest, "uri"> {
    return this.#preferences;
  }

  get state(): ListState {
    return this.#keeper.state;
  }

  start(): Promise<void> {
    return this.#keeper.start();
  }

  reload(): Promise<void> {
    return this.#keeper.reload();
  }

  stop(): void {
    this.#keeper.stop();
  }

  #files(): string[] {
    const { archives, config = this.#io.env[variableOf("config")] } = this.#values;
    const isFile = archives !== undefined && !isWebAddress(archives);
    return [...(isFile ? [archives] : []), ...(config === undefined ? [] : [config])];
  }

  async #take(): Promise<void> {
    const { setUp, log } = this.#options;
    const read = this.#options.reread();
    const archives = await listedArchives("aggregate", read, this.#io, faultLog(log));
    if (archives.length === 0) {
      // At the start that may be meant; here it is more likely a list that was not written whole.
      throw new MementoMapError("MM_BAD_INPUT", "there is no archive in the list", {
        position: { source: read.archives ?? "" },
      });
    }
    if (!isDeepStrictEqual(archives, this.#archives)) {
      await setUp.open.replaceArchives(archives);
      log.event("info", "archive list reloaded", differences(this.#archives, archives));
      this.#archives = archives;
    }
    this.#takeSettings(read);
  }

  #takeSettings(read: AggregateValues): void {
    const { values: first, log } = this.#options;
    const taken = Object.fromEntries(HOT_RELOADABLE.map((name) => [name, read[name]]));
    // Of the same names, and their values of the same types.
    const values = { ...first, ...taken } as AggregateValues;
    if (!isDeepStrictEqual(values, this.#values)) log.event("info", "other settings");
    this.#values = values;
    this.#preferences = routePreferences(values);
    // The keys of an object of this type.
    const names = Object.keys(first) as (keyof AggregateValues)[];
    const waiting = names.filter((name) => !isDeepStrictEqual(values[name], read[name])).join(", ");
    if (waiting !== this.#waiting && waiting !== "") {
      log.event("error", "changed settings require a restart", { settings: waiting });
    }
    this.#waiting = waiting;
  }
}

/** Which archives came, went and are not as they were, by their ids. */
function differences(
  before: readonly Archive[],
  after: readonly Archive[],
): Record<string, string | number> {
  const old = new Map(before.map((archive) => [archive.id, archive]));
  const ids = new Set(after.map(({ id }) => id));
  const isChanged = (archive: Archive): boolean =>
    old.has(archive.id) && !isDeepStrictEqual(archive, old.get(archive.id));
  return {
    archives: after.length,
    added: idsOf(after.filter(({ id }) => !old.has(id))),
    removed: idsOf(before.filter(({ id }) => !ids.has(id))),
    changed: idsOf(after.filter(isChanged)),
  };
}

function idsOf(archives: readonly Archive[]): string {
  return archives.map(({ id }) => id).join(" ");
}
