import { join } from "node:path";
import { quote } from "../../errors.ts";
import { DEFAULT_ASK_LIMITS } from "../../aggregate/ask/timemap.ts";
import { type OptionTable, type OptionValues, usage } from "./command-line.ts";
import {
  choice,
  MAX_SHRINK_OPTION,
  misuse,
  option,
  parseAddress,
  parseDuration,
  parsePositive,
  parseSize,
  parseWhole,
} from "./options.ts";
import { HOST_OPTION, MONITORING_OPTIONS, parsePathPrefix, PROXY_OPTIONS } from "./server-shell.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";
import { ProxySettings } from "../../http/proxy.ts";
import type { LearnOptions } from "../../aggregate/learn/store.ts";
import { loadArchives } from "../../aggregate/route/archive-list.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import type { RouteRequest } from "../../aggregate/route/decision.ts";
import type { CommandValues } from "./command.ts";
import type { Io } from "./io.ts";

export const MAP_AGE_OPTION = {
  value: "TIME",
  default: "90d",
  help: "Do not skip archives because of maps older than this; off for maps of any age.",
  parse: parseMapAge,
} as const;

export const ALLOW_PRIVATE_OPTION = {
  help: "Allow redirects and links of archives to unlisted private addresses.",
} as const;

/** Rarely used options: set in a file or the environment, and omitted from the help. */
function settings<const Options extends OptionTable>(options: Options): Options {
  const entries = Object.entries(options).map(([name, each]) => [
    name,
    { ...each, isSetting: true },
  ]);
  return Object.fromEntries(entries) as Options; // the same names
}

/**
 * The options of `aggregate`, which are also its settings in a file and in the environment. Short names
 * are those of MemGator.
 */
export const AGGREGATE_OPTIONS = {
  archives: {
    short: "a",
    aliases: ["arcs"],
    value: "FILE",
    help: "The list of archives, MemGator's archives.json: a file or a URL.",
  },
  map: {
    value: "ID=MAP",
    help: "The map of an archive: a file or a URL. May be repeated.",
    multiple: true,
    parse: parseMap,
  },
  "no-routing": { help: "Query every archive, regardless of maps." },
  format: {
    short: "f",
    value: "FORMAT",
    default: "link",
    help: "The output format: link, json or cdxj.",
    ...choice(["link", "json", "cdxj"]),
  },
  only: {
    value: "ID",
    help: "Query only this archive, or with !ID, all but this. May be repeated.",
    multiple: true,
  },
  from: option.datetime("Only mementos from this time on."),
  until: option.datetime("Only mementos until this time."),
  "top-k": {
    short: "k",
    value: "N",
    help: "Query at most this many archives, the likeliest.",
    aliases: ["topk"],
    parse: parseTopK,
  },
  timeout: {
    short: "r",
    aliases: ["restimeout"],
    ...option.duration("60s", "How long an archive may take in total."),
  },
  "answer-within": option.duration(
    "How long a client waits for archives. Later responses are included in the next lookup. Default: --timeout.",
  ),
  contact: {
    short: "c",
    value: "TEXT",
    help: "A contact for archives: a mail address or a page. Sent with every request.",
  },
  cache: {
    value: "SIZE",
    default: "64m",
    help: "The size of the cache of mementos, in memory, or in --state if given; off to disable it.",
    parse: parseCache,
  },
  state: {
    value: "DIR",
    help: "Store fetched maps, the learnt state and the cache here. Default: a temporary folder.",
  },
  recall: option.part(
    "Learn from responses which archives to skip, and keep this share of the responses with mementos.",
  ),
  "learn-from": {
    value: "LOG",
    help: "At the start, learn from this log, written by --log or by MemGator. May be repeated.",
    multiple: true,
  },
  log: {
    short: "l",
    value: "FILE",
    help: "Log the responses of archives here, in the format of MemGator's log.",
  },
  serve: { help: "Run as a service." },
  port: { short: "p", ...option.port("1208", "The port; 0 selects any free port.") },
  host: { short: "H", ...HOST_OPTION },
  workers: {
    value: "N",
    default: "1",
    help: "The number of processes. Each has its own cache and an equal part of the limits.",
    parse: parseWorkers,
  },
  base: {
    short: "P",
    aliases: ["proxy"],
    value: "URL",
    help: "The public URL of the service, for links, or only its path, such as /mementos. Requests may include the path or not. Default: the URL that the client used.",
    parse: parseBase,
  },
  ...MONITORING_OPTIONS,
  monitor: { short: "m", help: "Send events to clients of /monitor." },
  rate: option.decimal("0", "Requests per second and client address; 0 for no limit."),
  "trust-proxy": PROXY_OPTIONS["trust-proxy"],
  config: { value: "FILE", help: "A JSON file of settings, by the names of these options." },
  ...settings({
    agent: {
      short: "A",
      value: "TEXT",
      help: "The complete User-Agent, instead of mementomap/VERSION (+CONTACT).",
    },
    "headers-timeout": {
      short: "T",
      aliases: ["hdrtimeout"],
      ...option.duration("30s", "How long an archive may take to start its response."),
    },
    "connect-timeout": {
      short: "t",
      aliases: ["contimeout"],
      ...option.duration("5s", "The timeout for connecting to an archive."),
    },
    tolerance: {
      short: "F",
      value: "N",
      default: "5",
      help: "Consecutive failures that open the circuit breaker of an archive; 0 for never.",
      parse: parseTolerance,
    },
    dormant: {
      short: "d",
      ...option.duration(
        "15m",
        "The longest pause of the circuit breaker; at first 1 minute, then twice as long each time.",
      ),
    },
    "max-timemap": option.size(
      `${DEFAULT_ASK_LIMITS.maxBytes / 2 ** 20}m`,
      "The maximum size of an archive's TimeMap, or of a page of it.",
    ),
    sample: option.part(
      "1%",
      "Query this share of the skipped archives anyway, to measure how often maps are wrong.",
    ),
    "cache-time": option.duration(
      "24h",
      "The cache lifetime of mementos in responses without an explicit lifetime. For 15 days after that, stale ones are used while the archive is queried again.",
    ),
    "miss-time": option.duration("1h", "The cache lifetime of responses without mementos."),
    "max-age": option.duration("10m", "How long clients may use a response without revalidation."),
    "map-age": MAP_AGE_OPTION,
    "map-memory": option.size("1g", "The memory for maps; a fetched map may use a quarter of it."),
    "max-shrink": MAX_SHRINK_OPTION,
    "allow-private": ALLOW_PRIVATE_OPTION,
    "ignore-forced": {
      help: "Ignore headers that force requests to archives: Prefer: routing=off, Cache-Control: no-cache.",
    },
  }),
} as const satisfies OptionTable;

/** Larger values are almost certainly typos. */
const MAX_WORKERS = 512;

function parseWorkers(text: string): number {
  const count = parsePositive(text);
  if (count <= MAX_WORKERS) return count;
  throw misuse(`more than ${MAX_WORKERS} processes: ${quote(text)}`);
}

/** A URL, or a path to append to the origin that the client used. */
function parseBase(text: string): string {
  return text.startsWith("/") ? parsePathPrefix(text) : parseAddress(text);
}

/** `id=path`, where the path may be a URL. */
function parseMap(text: string): { id: string; map: string } {
  const equals = text.indexOf("=");
  if (equals > 0 && equals < text.length - 1) {
    return { id: text.slice(0, equals), map: text.slice(equals + 1) };
  }
  throw misuse(`not a map of an archive: ${quote(text)}; write ID=MAP, such as loc=loc.ukvs`);
}

/** MemGator's -1 means no limit. */
function parseTopK(text: string): number {
  return text === "-1" ? Infinity : parsePositive(text);
}

function parseMapAge(text: string): number {
  return text === "off" ? Infinity : parseDuration(text);
}

function parseCache(text: string): number {
  return text === "off" ? 0 : parseSize(text);
}

/** MemGator's -1 is our 0: the circuit breaker never opens. */
function parseTolerance(text: string): number {
  const failures = text === "-1" ? 0 : parseWhole(text);
  return failures === 0 ? Infinity : failures;
}

type Values = OptionValues<typeof AGGREGATE_OPTIONS>;

export type AggregateValues = CommandValues<typeof AGGREGATE_OPTIONS> & {
  /** Whether the folder of `state` is deleted on exit. */
  readonly isStateTemporary?: boolean | undefined;
};

/**
 * The archives of `--archives`, with the maps of `--map`.
 *
 * @throws MM_USAGE without a list, and for ids that are not in it; the errors of the list.
 */
export async function listedArchives(
  command: string,
  values: Pick<Values, "archives" | "map" | "only">,
  io: Io,
): Promise<readonly Archive[]> {
  if (values.archives === undefined) {
    throw usage(
      command,
      "name the list of archives with --archives FILE; for example MemGator's archives.json",
    );
  }
  const archives = await loadArchives(values.archives, {
    proxies: ProxySettings.of(io.env),
    signal: io.interrupt.signal,
  });
  for (const { id } of values.map) checkId(archives, "--map", id);
  for (const id of values.only) checkId(archives, "--only", id.replace(/^!/, ""));
  return archives.map((archive) => {
    const own = values.map.findLast(({ id }) => id === archive.id);
    return own === undefined ? archive : { ...archive, mementomap: own.map };
  });
}

/** The learning options; undefined if learning is off. @throws MM_USAGE */
export function learningOf(
  values: Pick<Values, "recall" | "learn-from" | "state">,
): LearnOptions | undefined {
  const { recall, state } = values;
  if (recall === undefined) {
    if (values["learn-from"].length === 0) return undefined;
    throw misuse(
      "--learn-from requires --recall, the share of responses with mementos to keep, such as --recall 0.98",
    );
  }
  return {
    recall,
    logs: values["learn-from"],
    file: state === undefined ? undefined : join(state, "learnt.bin"),
  };
}

/** The defaults of requests to the router. */
export function routePreferences(
  values: Pick<Values, "only" | "from" | "until" | "top-k">,
): Omit<RouteRequest, "uri"> {
  const { from, until } = values;
  const except = values.only.flatMap((id) => (id.startsWith("!") ? [id.slice(1)] : []));
  const only = values.only.filter((id) => !id.startsWith("!"));
  return {
    only: only.length === 0 ? undefined : only,
    except: except.length === 0 ? undefined : except,
    from: from === undefined ? undefined : parsePaddedDatetime(from),
    until: until === undefined ? undefined : lastSecondOf(until),
    topK: values["top-k"],
  };
}

function checkId(archives: readonly Archive[], option: string, id: string): void {
  if (archives.some((archive) => archive.id === id)) return;
  const known = archives.slice(0, 20).map((archive) => quote(archive.id));
  throw misuse(
    `${option}: there is no archive ${quote(id)}; the list has ${known.join(", ") || "none"}`,
  );
}
