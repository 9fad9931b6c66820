import { join } from "node:path";
import { quote } from "../../errors.ts";
import { DEFAULT_ASK_LIMITS } from "../../aggregate/ask-archive.ts";
import { type OptionTable, type OptionValues, usage } from "./command-line.ts";
import {
  choice,
  MAX_SHRINK_OPTION,
  misuse,
  option,
  parseDuration,
  parsePositive,
  parseSize,
  parseWhole,
} from "./options.ts";
import { HOST_OPTION, MONITORING_OPTIONS, PROXY_OPTIONS, SERVER_LOGS } from "./server-options.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";
import { ProxySettings } from "../../http/proxy.ts";
import type { LearnOptions } from "../../aggregate/learn/kept-learner.ts";
import { isWebAddress, loadArchives } from "../../aggregate/route/archive-list.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import type { RouteRequest } from "../../aggregate/route/decision.ts";
import type { Io } from "./io.ts";
import { refuseUnusedLearning } from "./learn-sources.ts";

/**
 * The options of `aggregate`, which are its settings in a file and in the environment too. Short
 * names are those of MemGator.
 */
export const AGGREGATE_OPTIONS = {
  archives: {
    short: "a",
    value: "FILE",
    help: "The list of archives, MemGator's archives.json: a file or a URL.",
  },
  map: {
    value: "ID=MAP",
    help: "The map of an archive: a file or a URL. May be repeated.",
    multiple: true,
    parse: parseMap,
  },
  "no-routing": { help: "Ask every archive, regardless of maps." },
  format: {
    short: "f",
    value: "FORMAT",
    default: "link",
    help: "The output format: link, json or cdxj.",
    ...choice(["link", "json", "cdxj"]),
  },
  only: {
    value: "ID",
    help: "Ask only this archive. May be repeated.",
    multiple: true,
  },
  except: {
    value: "ID",
    help: "Do not ask this archive. May be repeated.",
    multiple: true,
  },
  from: option.datetime("Only mementos from this time on."),
  until: option.datetime("Only mementos until this time."),
  "top-k": { short: "k", ...option.count("Ask at most this many archives, the likeliest.") },
  "min-likelihood": option.part("Ask only archives that are at least this likely to have the URI."),
  timeout: {
    short: "r",
    ...option.duration("60s", "How long to wait for archives in total."),
  },
  "headers-timeout": {
    short: "T",
    ...option.duration("30s", "How long an archive may take to start its response."),
  },
  "connect-timeout": {
    short: "t",
    ...option.duration("5s", "How long connecting to an archive may take."),
  },
  contact: {
    short: "c",
    value: "TEXT",
    help: "A contact for archives: a mail address or a page. Sent with every request.",
  },
  agent: {
    short: "A",
    value: "TEXT",
    help: "The complete User-Agent, instead of mementomap/VERSION (+CONTACT).",
  },
  concurrency: option.count(
    "256",
    "The maximum number of concurrent requests to one archive; starts at 16 and adapts.",
  ),
  "queue-timeout": option.duration("2s", "How long a request may be queued for an archive."),
  "archive-rate": option.decimal("0", "Requests per second to one archive; 0 for no limit."),
  retries: option.whole("2", "How often to retry a failed request."),
  tolerance: {
    short: "F",
    value: "N",
    default: "5",
    help: "Failures in a row that open the circuit breaker of an archive; 0 for never.",
    parse: parseTolerance,
  },
  dormant: {
    short: "d",
    ...option.duration(
      "15m",
      "The longest pause of the circuit breaker; at first 1 minute, then twice as long each time.",
    ),
  },
  cache: {
    value: "SIZE",
    default: "64m",
    help: "The size of the cache of responses, in memory or in --cache-dir; off to disable it.",
    parse: parseCache,
  },
  "cache-dir": {
    value: "DIR",
    help: "Keep the cache in this folder, where it survives restarts.",
  },
  "cache-time": option.duration("1h", "How long to use a response without an explicit lifetime."),
  "miss-time": option.duration("10m", "The same for responses without mementos."),
  "max-timemap": option.size(
    `${DEFAULT_ASK_LIMITS.maxBytes / 2 ** 20}m`,
    "The maximum size of an archive's TimeMap, or of a page of it.",
  ),
  state: {
    value: "DIR",
    help: "Keep fetched maps here. Default: a temporary folder.",
  },
  "map-age": {
    value: "TIME",
    default: "90d",
    help: "Do not skip archives because of maps older than this; off for maps of any age.",
    parse: parseMapAge,
  },
  "max-shrink": MAX_SHRINK_OPTION,
  sample: option.part(
    "1%",
    "Ask this share of the skipped archives anyway, to measure how often maps are wrong. Clients do not wait for them.",
  ),
  recall: option.part(
    "Learn from responses which archives to skip: the share of responses with mementos, and of mementos, to keep.",
  ),
  "learn-from": {
    value: "SOURCE",
    help: "At the start, learn from this log of an aggregator, of --log or of MemGator, or from what the aggregator at this URL shares. May be repeated.",
    multiple: true,
  },
  learnt: {
    value: "FILE",
    help: "Save what is learnt here. Default: in --state, if given.",
  },
  "no-share": { help: "Do not publish what is learnt as maps at /maps." },
  "allow-private": { help: "Follow archives to private addresses that are not in the list." },
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
    help: "The number of worker processes. Default: one per core.",
    parse: parseWorkers,
  },
  base: {
    short: "P",
    ...option.address(
      "The public URL of the service, for links. Default: the one that the client used.",
    ),
  },
  root: { short: "R", value: "PATH", default: "/", help: "The prefix of all paths." },
  ...MONITORING_OPTIONS,
  monitor: { short: "m", help: "Send events to clients of /monitor." },
  "page-size": option.count("1000000", "The maximum number of mementos per page of a TimeMap."),
  "max-age": option.duration("10m", "How long clients may use a response without revalidation."),
  "max-proxy": option.size("256m", "The maximum size of a memento that /memento/proxy returns."),
  "max-requests": option.count(
    "256",
    "The maximum number of requests processed at a time; others wait.",
  ),
  "max-waiting": option.whole(
    "20000",
    "The maximum number of waiting requests; others are answered with 503.",
  ),
  "max-connections": option.count("20000", "The maximum number of client connections."),
  rate: option.decimal("0", "Requests per second and client address; 0 for no limit."),
  ...PROXY_OPTIONS,
  grace: option.duration("10s", "How long requests in progress may take after a stop."),
  "access-log": {
    value: "WHAT",
    default: "events",
    help: "What to log on standard error: requests (and events), events, or nothing.",
    ...choice(SERVER_LOGS),
  },
  config: { value: "FILE", help: "A JSON file of settings, by the names of these options." },
} as const satisfies OptionTable;

/** More processes than any machine has use for are a slip of the keyboard. */
export const MOST_WORKERS = 512;

function parseWorkers(text: string): number {
  const count = parsePositive(text);
  if (count <= MOST_WORKERS) return count;
  throw misuse(`more than ${MOST_WORKERS} processes: ${quote(text)}`);
}

/** `id=path`, where the path may be an address. */
function parseMap(text: string): { id: string; map: string } {
  const equals = text.indexOf("=");
  if (equals > 0 && equals < text.length - 1) {
    return { id: text.slice(0, equals), map: text.slice(equals + 1) };
  }
  throw misuse(`not a map of an archive: ${quote(text)}; write ID=MAP, such as loc=loc.ukvs`);
}

function parseMapAge(text: string): number {
  return text === "off" ? Infinity : parseDuration(text);
}

function parseCache(text: string): number {
  return text === "off" ? 0 : parseSize(text);
}

/** MemGator's -1 is our 0: no number of failures is too many. */
function parseTolerance(text: string): number {
  const failures = text === "-1" ? 0 : parseWhole(text);
  return failures === 0 ? Infinity : failures;
}

type Values = OptionValues<typeof AGGREGATE_OPTIONS>;

const NOTHING_SHARED = "nothing is learnt from another aggregator";

/**
 * The archives of `--archives`, with the maps of `--map`.
 *
 * @throws MM_USAGE without a list, and for ids that are not in it; what is wrong with the list.
 */
export async function listedArchives(
  command: string,
  values: Pick<Values, "archives" | "map" | "only" | "except" | "learn-from">,
  io: Io,
  onFault: (message: string, reason: string) => void,
  onShared?: (address: string, maps: number) => void,
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
    sharedBy: values["learn-from"].filter(isWebAddress),
    onFailure: (_address, error) => onFault(NOTHING_SHARED, error.describe()),
    onShared(address, maps) {
      if (maps > 0) onShared?.(address, maps);
      else onFault(NOTHING_SHARED, `${address}: it shares no map of an archive that has none here`);
    },
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

/** What the settings say about learning; undefined where nothing is to be learnt. @throws MM_USAGE */
export function learningOf(
  values: Pick<Values, "recall" | "learn-from" | "learnt" | "state">,
): LearnOptions | undefined {
  refuseUnusedLearning(values);
  const { recall, learnt, state } = values;
  if (recall === undefined) return undefined;
  return {
    recall,
    logs: values["learn-from"].filter((source) => !isWebAddress(source)),
    file: learnt ?? (state === undefined ? undefined : join(state, "learnt.bin")),
  };
}

/** What is asked of a router, unless a request says otherwise itself. */
export function routePreferences(
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
    throw misuse(
      `${option}: there is no archive ${quote(id)}; the list has ${known.join(", ") || "none"}`,
    );
  }
}
