import { MementoMapError, quote } from "../../errors.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";
import { ProxySettings } from "../../http/proxy-settings.ts";
import { loadArchives } from "../../aggregate/route/archive-list.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import type { RouteRequest } from "../../aggregate/route/decision.ts";
import type { AGGREGATE_OPTIONS } from "./aggregate-options.ts";
import { usage } from "./command-line.ts";
import type { OptionValues } from "./command.ts";
import type { Io } from "./io.ts";

type Values = OptionValues<typeof AGGREGATE_OPTIONS>;

/**
 * The archives of `--archives`, with the maps of `--map`.
 *
 * @throws MM_USAGE without a list, and for ids that are not in it; what is wrong with the list.
 */
export async function listedArchives(
  command: string,
  values: Pick<Values, "archives" | "map" | "only" | "except">,
  io: Io,
): Promise<readonly Archive[]> {
  if (values.archives === undefined) {
    throw usage(
      command,
      "name the list of archives with --archives FILE; MemGator's archives.json will do",
    );
  }
  const archives = await loadArchives(values.archives, {
    proxies: ProxySettings.of(io.env),
    signal: io.interrupt.signal,
  });
  const mapped = values.map.map(({ id }) => id);
  checkIds(archives, "--map", mapped);
  checkIds(archives, "--only", values.only);
  checkIds(archives, "--except", values.except);
  return archives.map((archive) => {
    const own = values.map.findLast(({ id }) => id === archive.id);
    return own === undefined ? archive : { ...archive, mementomap: own.map };
  });
}

/** What is asked of a router, unless a request says otherwise itself. */
export function routeWishes(
  values: Pick<Values, "only" | "except" | "from" | "until" | "top-k" | "min-likelihood">,
): Omit<RouteRequest, "uri"> {
  const { only, except, from, until } = values;
  return {
    only: only.length === 0 ? undefined : only,
    except: except.length === 0 ? undefined : except,
    from: from === undefined ? undefined : parsePaddedDatetime(from),
    until: until === undefined ? undefined : lastSecondOf(until),
    topK: values["top-k"],
    minLikelihood: values["min-likelihood"],
  };
}

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
