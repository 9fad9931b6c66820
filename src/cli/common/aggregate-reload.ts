import { isDeepStrictEqual } from "node:util";
import { MementoMapError } from "../../errors.ts";
import { isWebAddress, ListKeeper, type ListState } from "../../aggregate/route/archive-list.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import type { RouteRequest } from "../../aggregate/route/decision.ts";
import type { Log } from "../../http/log.ts";
import type { AggregateValues, SetUpAggregator } from "./aggregate-setup.ts";
import type { Io } from "./io.ts";
import { listedArchives, routeWishes } from "./listed-archives.ts";
import { variableOf } from "./settings.ts";

/** Settings that hold at once when they change; all others want a restart. */
export const TAKEN_AT_ONCE = [
  "archives",
  "map",
  "only",
  "except",
  "from",
  "until",
  "top-k",
  "min-likelihood",
] as const satisfies readonly (keyof AggregateValues)[];

/** A list on the Web is got again this often. */
const WEB_LIST_EVERY_MS = 3_600_000;

/** What a service needs to take up its list of archives and its settings anew. */
export interface ReloadOptions {
  readonly values: AggregateValues;
  /** The settings as they are now. @throws what is wrong with them. */
  readonly reread: () => AggregateValues;
  readonly setUp: SetUpAggregator;
  readonly log: Log;
}

/**
 * Keeps a service by its list of archives and its settings as they are now.
 *
 * They are read anew when their files change and when the service is told to. What is refused
 * changes nothing, and is in `state` and in the log.
 */
export class AggregateReload {
  readonly #options: ReloadOptions;
  readonly #io: Io;
  readonly #keeper: ListKeeper;
  #values: AggregateValues;
  #archives: readonly Archive[];
  #wishes: Omit<RouteRequest, "uri">;
  #waiting = "";

  constructor(options: ReloadOptions, io: Io) {
    this.#options = options;
    this.#io = io;
    this.#values = options.values;
    this.#archives = options.setUp.archives;
    this.#wishes = routeWishes(options.values);
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

  /** The list of archives in use. */
  get archives(): readonly Archive[] {
    return this.#archives;
  }

  /** The settings in use. */
  get values(): AggregateValues {
    return this.#values;
  }

  /** What requests wish for that do not say otherwise. */
  get wishes(): Omit<RouteRequest, "uri"> {
    return this.#wishes;
  }

  get state(): ListState {
    return this.#keeper.state;
  }

  start(): Promise<void> {
    return this.#keeper.start();
  }

  /** Reads list and settings now. */
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
    const archives = await listedArchives("aggregate", read, this.#io);
    if (archives.length === 0) {
      // At the start that may be meant; here it is more likely a list that was not written whole.
      throw new MementoMapError("MM_BAD_INPUT", "there is no archive in the list", {
        position: { source: read.archives ?? "" },
      });
    }
    if (!isDeepStrictEqual(archives, this.#archives)) {
      await setUp.open.replaceArchives(archives);
      log.event("info", "another list of archives", differences(this.#archives, archives));
      this.#archives = archives;
    }
    this.#takeSettings(read);
  }

  #takeSettings(read: AggregateValues): void {
    const { values: first, log } = this.#options;
    const taken = Object.fromEntries(TAKEN_AT_ONCE.map((name) => [name, read[name]]));
    // Of the same names, and their values of the same types.
    const values = { ...first, ...taken } as AggregateValues;
    if (!isDeepStrictEqual(values, this.#values)) log.event("info", "other settings");
    this.#values = values;
    this.#wishes = routeWishes(values);
    const waiting = Object.keys(first)
      // The keys of an object of this type.
      .filter(
        (name) =>
          !isDeepStrictEqual(
            values[name as keyof AggregateValues],
            read[name as keyof AggregateValues],
          ),
      )
      .join(", ");
    if (waiting !== this.#waiting && waiting !== "") {
      log.event("error", "settings changed that want a restart", { settings: waiting });
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
