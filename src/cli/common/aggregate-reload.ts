import { isDeepStrictEqual } from "node:util";
import { type Archive, isWebAddress } from "../../aggregate/route/archive.ts";
import type { ListState } from "../../aggregate/route/archive-list.ts";
import type { RouteRequest } from "../../aggregate/route/decision.ts";
import { internalFault, isMementoMapError, MementoMapError } from "../../errors.ts";
import { Reloading } from "../../files/reloading.ts";
import { type FileStamp, stampIfThere } from "../../files/shared-files.ts";
import type { Log } from "../../http/log.ts";
import { type AggregateValues, listedArchives, routePreferences } from "./aggregate-options.ts";
import { variableOf } from "./command-line.ts";
import type { Io } from "./io.ts";

/** Settings that take effect at once; all others require a restart. */
const HOT_RELOADABLE = [
  "archives",
  "map",
  "only",
  "from",
  "until",
  "top-k",
] as const satisfies readonly (keyof AggregateValues)[];

/** How often files are checked for changes. */
const CHECK_EVERY_MS = 10_000;
/** How often a list on the Web is reloaded. */
const WEB_LIST_EVERY_MS = 3_600_000;

/** What a service needs to reload its list of archives and its settings. */
interface ReloadOptions {
  readonly values: AggregateValues;
  /** Reads the current settings. @throws their errors. */
  readonly reread: () => AggregateValues;
  readonly archives: readonly Archive[];
  /** Switches to another list. */
  readonly replaceArchives: (archives: readonly Archive[]) => Promise<void>;
  readonly log: Log;
  readonly checkEveryMs?: number | undefined;
  readonly webListEveryMs?: number | undefined;
}

/**
 * Reloads the list of archives and the settings of a service.
 *
 * They are reloaded when their files change and on request. Invalid ones change nothing, and are reported in
 * `state` and in the log. Timers do not keep the process alive.
 */
export class AggregateReload {
  /** The settings in use. */
  values: AggregateValues;
  /** The defaults for requests that state no preferences. */
  preferences: Omit<RouteRequest, "uri">;
  readonly #options: ReloadOptions;
  readonly #io: Io;
  readonly #reloading: Reloading<ReadonlyMap<string, FileStamp | undefined>>;
  #archives: readonly Archive[];
  #takenAt = Date.now();
  #triedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #waiting = "";

  constructor(options: ReloadOptions, io: Io) {
    this.values = options.values;
    this.preferences = routePreferences(options.values);
    this.#options = options;
    this.#io = io;
    this.#archives = options.archives;
    this.#reloading = new Reloading({
      source: "the list of archives",
      stamp: () => this.#stamps(),
      take: async () => {
        this.#triedAt = performance.now();
        await this.#take();
        this.#takenAt = Date.now();
      },
      onFailure: (error, isNews) => {
        if (isNews) options.log.event("error", REFUSED, { reason: error.describe() });
      },
    });
  }

  get state(): ListState {
    return { takenAt: this.#takenAt, error: this.#reloading.error?.describe() };
  }

  /** Starts watching the files. */
  async start(): Promise<void> {
    const { checkEveryMs = CHECK_EVERY_MS, webListEveryMs = WEB_LIST_EVERY_MS } = this.#options;
    this.#reloading.assume(await this.#stamps());
    const isDue = (): boolean =>
      isWebAddress(this.values.archives ?? "") &&
      performance.now() - this.#triedAt >= webListEveryMs;
    this.#timer = setInterval(() => {
      // Nothing awaits a timer: an uncaught error would end the process.
      this.#reloading
        .check(isDue)
        .catch((error: unknown) => this.#reloading.fail(internalFault(error, "MM_IO")));
    }, checkEveryMs).unref();
  }

  /** Reloads the list and the settings, even if unchanged. */
  reload(): Promise<void> {
    return this.#reloading.check(() => true);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A file whose status cannot be read counts as changed; reading it then reports the error. */
  async #stamps(): Promise<ReadonlyMap<string, FileStamp | undefined>> {
    const { archives = "", config = this.#io.env[variableOf("config")] ?? "" } = this.values;
    const stamps = new Map<string, FileStamp | undefined>();
    for (const path of [archives, config]) {
      if (path === "" || isWebAddress(path)) continue;
      const stamp = await stampIfThere(path).catch((error: unknown) => {
        if (!isMementoMapError(error)) throw error;
        return undefined;
      });
      stamps.set(path, stamp);
    }
    return stamps;
  }

  async #take(): Promise<void> {
    const { log, replaceArchives } = this.#options;
    const read = this.#options.reread();
    const archives = await listedArchives("aggregate", read, this.#io);
    if (archives.length === 0) {
      // An empty list may be intended at the start; here it is more likely an incomplete file.
      throw new MementoMapError("MM_BAD_INPUT", "the list has no archives", {
        position: { source: read.archives ?? "" },
      });
    }
    if (!isDeepStrictEqual(archives, this.#archives)) {
      await replaceArchives(archives);
      log.event("info", "archive list reloaded", differences(this.#archives, archives));
      this.#archives = archives;
    }
    this.#takeSettings(read);
  }

  #takeSettings(read: AggregateValues): void {
    const { values: first, log } = this.#options;
    const taken = Object.fromEntries(HOT_RELOADABLE.map((name) => [name, read[name]]));
    // The names and value types are the same.
    const values = { ...first, ...taken } as AggregateValues;
    if (!isDeepStrictEqual(values, this.values)) log.event("info", "settings reloaded");
    this.values = values;
    this.preferences = routePreferences(values);
    // The keys of an object of this type.
    const names = Object.keys(first) as (keyof AggregateValues)[];
    const waiting = names.filter((name) => !isDeepStrictEqual(values[name], read[name])).join(", ");
    if (waiting !== this.#waiting && waiting !== "") {
      log.event("error", "changed settings require a restart", { settings: waiting });
    }
    this.#waiting = waiting;
  }
}

const REFUSED = "archive list or settings rejected";

/** Added, removed and changed archives, by their ids. */
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
