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

/** Settings that hold at once when they change; all others want a restart. */
const HOT_RELOADABLE = [
  "archives",
  "map",
  "only",
  "from",
  "until",
  "top-k",
] as const satisfies readonly (keyof AggregateValues)[];

/** How often to look whether files changed. */
const CHECK_EVERY_MS = 10_000;
/** A list on the Web is got again this often. */
const WEB_LIST_EVERY_MS = 3_600_000;

/** What a service needs to reload its list of archives and its settings. */
interface ReloadOptions {
  readonly values: AggregateValues;
  /** The settings as they are now. @throws what is wrong with them. */
  readonly reread: () => AggregateValues;
  readonly archives: readonly Archive[];
  /** Goes by another list. */
  readonly replaceArchives: (archives: readonly Archive[]) => Promise<void>;
  readonly log: Log;
  readonly checkEveryMs?: number | undefined;
  readonly webListEveryMs?: number | undefined;
}

/**
 * Keeps a service by its list of archives and its settings as they are now.
 *
 * They are read again when their files change and when the service is told to. What is refused
 * changes nothing, and is in `state` and in the log. Timers do not keep the process alive.
 */
export class AggregateReload {
  /** As they are in use. */
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

  /** Looks after the files from now on. */
  async start(): Promise<void> {
    const { checkEveryMs = CHECK_EVERY_MS, webListEveryMs = WEB_LIST_EVERY_MS } = this.#options;
    this.#reloading.assume(await this.#stamps());
    const isDue = (): boolean =>
      isWebAddress(this.values.archives ?? "") &&
      performance.now() - this.#triedAt >= webListEveryMs;
    this.#timer = setInterval(() => {
      // Nobody awaits a timer: what would be thrown would end the process for one list.
      this.#reloading
        .check(isDue)
        .catch((error: unknown) => this.#reloading.fail(internalFault(error, "MM_IO")));
    }, checkEveryMs).unref();
  }

  /** Reads the list and the settings, whether or not anything changed. */
  reload(): Promise<void> {
    return this.#reloading.check(() => true);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A file that cannot be looked at is read all the same, and then says why. */
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
      // At the start that may be meant; here it is more likely a list that was not written whole.
      throw new MementoMapError("MM_BAD_INPUT", "there is no archive in the list", {
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
    // Of the same names, and their values of the same types.
    const values = { ...first, ...taken } as AggregateValues;
    if (!isDeepStrictEqual(values, this.values)) log.event("info", "other settings");
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

const REFUSED = "the list of archives or the settings are refused";

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
