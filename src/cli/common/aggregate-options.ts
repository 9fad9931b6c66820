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

/**
 * The options of `aggregate`, which are its settings in a file and in the environment too. Short
 * names are those of MemGator.
 */
export const AGGREGATE_OPTIONS = {
  archives: {
    short: "a",
    value: "FILE",
    help: "The list of archives, MemGator's archives.json: a file, or an address to get it from.",
  },
  map: {
    value: "ID=MAP",
    help: "The map of an archive: a file or an address. May be given more than once.",
    multiple: true,
    parse: parseMap,
  },
  "no-routing": { help: "Ask every archive, whatever maps say." },
  format: {
    short: "f",
    value: "FORMAT",
    default: "link",
    help: "What to write: link, json or cdxj.",
    ...choice(["link", "json", "cdxj"]),
  },
  only: {
    value: "ID",
    help: "Ask only this archive. May be given more than once.",
    multiple: true,
  },
  except: {
    value: "ID",
    help: "Do not ask this archive. May be given more than once.",
    multiple: true,
  },
  from: option.datetime("Only mementos from this time on."),
  until: option.datetime("Only mementos until this time."),
  "top-k": { short: "k", ...option.count("Ask at most this many archives, the likeliest.") },
  "min-likelihood": option.part("Ask only archives that are at least this likely to have it."),
  timeout: {
    short: "r",
    ...option.duration("60s", "When to go on without archives that have not answered."),
  },
  "headers-timeout": {
    short: "T",
    ...option.duration("30s", "How long an archive may take to begin its answer."),
  },
  "connect-timeout": {
    short: "t",
    ...option.duration("5s", "How long a connection to an archive may take."),
  },
  contact: {
    short: "c",
    value: "TEXT",
    help: "Whom archives can write to: a mail address or a page. Sent with every request.",
  },
  agent: {
    short: "A",
    value: "TEXT",
    help: "The whole User-Agent, in place of mementomap/VERSION (+CONTACT).",
  },
  concurrency: option.count(
    "256",
    "Requests to one archive at a time, at most; it begins with 16 and adapts to the archive.",
  ),
  "queue-timeout": option.duration(
    "2s",
    "How long a request waits for its turn at an archive, at most.",
  ),
  "archive-rate": option.decimal("0", "Requests a second to one archive; 0 for no limit."),
  retries: option.whole("2", "How often a request that failed is sent again."),
  tolerance: {
    short: "F",
    value: "N",
    default: "5",
    help: "Failures in a row after which an archive is not asked for a while; 0 for never.",
    parse: parseTolerance,
  },
  dormant: {
    short: "d",
    ...option.duration(
      "15m",
      "How long it is not asked at most; at first 1 minute, then twice as long each time.",
    ),
  },
  cache: {
    value: "SIZE",
    default: "64m",
    help: "How much to keep of what archives answered, in memory or in --cache-dir; off for nothing.",
    parse: parseCache,
  },
  "cache-dir": {
    value: "DIR",
    help: "Keep answers of archives in this folder, where they outlive the service.",
  },
  "cache-time": option.duration(
    "1h",
    "How long to use an answer for which its archive sets no time.",
  ),
  "miss-time": option.duration("10m", "The same for answers that an archive has nothing."),
  "max-timemap": option.size(
    `${DEFAULT_ASK_LIMITS.maxBytes / 2 ** 20}m`,
    "Bytes of an archive's TimeMap, or of a page of it.",
  ),
  state: {
    value: "DIR",
    help: "Keep maps that are fetched here; by default in a folder for this run only.",
  },
  "map-age": {
    value: "TIME",
    default: "90d",
    help: "Maps older than this are not believed where they say that nothing is there; off for maps of any age.",
    parse: parseMapAge,
  },
  "max-shrink": MAX_SHRINK_OPTION,
  sample: option.part(
    "1%",
    "Ask this share of the spared archives all the same, to learn how often maps are wrong. Answers do not wait for these.",
  ),
  recall: option.part(
    "Learn from answers which archives have what, and spare the others: the share of answers with mementos, and of mementos, to keep.",
  ),
  "learn-from": {
    value: "SOURCE",
    help: "Learn from this log of an aggregator at the start, of --log or of MemGator; or begin with what the aggregator at this address shares. May be given more than once.",
    multiple: true,
  },
  learnt: {
    value: "FILE",
    help: "Keep what is learnt here; by default in --state, if that is given.",
  },
  "no-share": { help: "Do not publish what is learnt, as maps at /maps." },
  "allow-private": { help: "Let archives lead to private addresses, not only those of the list." },
  log: {
    short: "l",
    value: "FILE",
    help: "Write what archives answered here, in the form of MemGator's log.",
  },
  serve: { help: "Run as a service." },
  port: { short: "p", ...option.port("1208", "The port; 0 takes any that is free.") },
  host: { short: "H", ...HOST_OPTION },
  workers: {
    value: "N",
    help: "Serve with this many processes; by default one for each core.",
    parse: parseWorkers,
  },
  base: {
    short: "P",
    ...option.address(
      "The public address of the service, for links; by default that which the client used.",
    ),
  },
  root: { short: "R", value: "PATH", default: "/", help: "What all paths begin with." },
  ...MONITORING_OPTIONS,
  monitor: { short: "m", help: "Send events to clients of /monitor." },
  "page-size": option.count("1000000", "Mementos of a page of a TimeMap."),
  "max-age": option.duration("10m", "How long clients may use an answer without asking again."),
  "max-proxy": option.size("256m", "Bytes of a memento that /memento/proxy passes on."),
  "max-requests": option.count("256", "Questions to work on at a time; others wait."),
  "max-waiting": option.whole("20000", "Questions that may wait; more are answered 503."),
  "max-connections": option.count("20000", "Connections of clients at a time."),
  rate: option.decimal("0", "Requests a second for each client's address; 0 for no limit."),
  ...PROXY_OPTIONS,
  grace: option.duration("10s", "How long requests under way may take after a stop."),
  "access-log": {
    value: "WHAT",
    default: "events",
    help: "What to say on standard error: requests (and events), events, or nothing.",
    ...choice(SERVER_LOGS),
  },
  config: { value: "FILE", help: "Settings as JSON, by the names of these options." },
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
    onFailure: (_address, error) =>
      onFault("nothing is learnt from another aggregator", error.describe()),
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

/** What the settings say about learning; undefined where nothing is to be learnt. */
export function learningOf(
  values: Pick<Values, "recall" | "learn-from" | "learnt" | "state">,
): LearnOptions | undefined {
  const { recall, learnt, state } = values;
  const sources = values["learn-from"];
  if (recall === undefined && sources.length === 0 && learnt === undefined) return undefined;
  return {
    recall,
    logs: sources.filter((source) => !isWebAddress(source)),
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
