import type { IncomingHttpHeaders } from "node:http";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { originalUri } from "../../http/original-uri.ts";
import { isPrivateAddress } from "../../http/private-address.ts";
import { networkOf } from "../../http/rate-limit.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";
import type { AggregateRequest } from "../aggregator.ts";
import type { HowToAsk } from "../ask/state.ts";
import type { RouteRequest } from "../route/decision.ts";
import type { Exchange } from "./exchange.ts";

/** A client's request for mementos. */
export interface LookupRequest {
  readonly request: AggregateRequest;
  readonly preferences: Preferences;
}

/**
 * Parses a client's request about an original.
 *
 * @throws MM_BAD_URI; MM_BAD_INPUT for an invalid preference, and if none of the archives that it names
 *   exists.
 */
export function lookupRequest(
  { request: { headers }, options, client }: Exchange,
  rawUri: string,
): LookupRequest {
  const uri = originalUri(rawUri);
  const preferences = readPreferences(headers);
  const { route, waitMs } = preferences;
  const { archives } = options.open.aggregator.router;
  if (route.only !== undefined && !archives.some(({ id }) => route.only?.includes(id))) {
    const names = route.only.map((id) => quote(id)).join(", ");
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `there is no archive ${names}; /archives.json lists the archives`,
    );
  }
  const network = teachingNetwork(client.address);
  const mayForce = options.ignoresForced !== true;
  const isBroadcast = preferences.isBroadcast && mayForce;
  const how = preferences.how === "refresh" && !mayForce ? "cached" : preferences.how;
  const isForced = isBroadcast || how === "refresh";
  const more = { uri, how, isBroadcast, waitMs, network, isForced };
  return { request: { ...options.defaults, ...route, ...more }, preferences };
}

/**
 * The network of a client, `203.0.113` or `2001:db8:1`; undefined for addresses within the operator's own network,
 * and if it is unknown.
 */
function teachingNetwork(address: string): string | undefined {
  if (address === "" || isPrivateAddress(address)) return undefined;
  const [, ipv4] = /(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(address) ?? [];
  return ipv4 ?? networkOf(address).split(":").slice(0, 3).join(":");
}

/** Preferences in the headers of a request. */
export interface Preferences {
  readonly route: Pick<
    RouteRequest,
    "only" | "except" | "from" | "until" | "topK" | "minLikelihood" | "referer"
  >;
  /** Whether to query every archive. */
  readonly isBroadcast: boolean;
  /** Whether the response should include the reasons for routing decisions. */
  readonly wantsReasons: boolean;
  /** How long the client is willing to wait (RFC 7240, 4.3). */
  readonly waitMs: number | undefined;
  readonly how: HowToAsk;
  /** The applied preferences, for `Preference-Applied`. */
  readonly applied: string | undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Writable<Preferences> & { readonly route: Writable<Preferences["route"]> };

/** Longer headers are ignored: matching them could take quadratic time. */
const MAX_HEADER_CHARACTERS = 1024;

/** A preference of RFC 7240: a token, and a value that is a token or a quoted string. */
const PREFERENCE =
  /\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?\s*(?:;[^,]*)?(?:,|$)/iy;

/**
 * Parses `Prefer` and related headers: which archives (`archives="a b"`, `except-archives="c"`), which time
 * (`from=2010`, `until=2014`), how many (`top-k=3`, `min-likelihood=0.1`), how long (`wait=5`), `routing=off`, and
 * `route-reasons`. `X-MemGator-Archive-Filter: a,!b` and `X-MementoMap-Route: 1` are equivalents of the first and
 * the last.
 *
 * Unknown preferences are ignored, as RFC 7240 requires.
 *
 * @throws MM_BAD_INPUT for an invalid value.
 */
export function readPreferences(headers: IncomingHttpHeaders): Preferences {
  const found: Draft = {
    route: { referer: headers.referer },
    isBroadcast: false,
    wantsReasons: headers["x-mementomap-route"] !== undefined,
    waitMs: undefined,
    how: howToAsk(headers),
    applied: undefined,
  };
  const filter = idsOf(shortHeader(headers["x-memgator-archive-filter"]));
  const except = filter.filter((id) => /^!./.test(id)).map((id) => id.slice(1));
  const only = filter.filter((id) => !id.startsWith("!"));
  if (only.length > 0) found.route.only = only;
  if (except.length > 0) found.route.except = except;
  const applied: string[] = [];
  for (const { name, value, text } of preferencesOf(shortHeader(headers["prefer"]))) {
    const take = Object.hasOwn(TAKE, name) ? TAKE[name] : undefined;
    if (take === undefined) continue;
    take(found, value);
    applied.push(text);
  }
  if (applied.length > 0) found.applied = applied.join(", ");
  return found;
}

function shortHeader(value: string | string[] | undefined): string {
  const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
  return text.length > MAX_HEADER_CHARACTERS ? "" : text;
}

interface Preference {
  readonly name: string;
  readonly value: string;
  /** As sent. */
  readonly text: string;
}

function* preferencesOf(header: string): Generator<Preference, void, undefined> {
  for (let at = 0; at < header.length;) {
    PREFERENCE.lastIndex = at;
    const match = PREFERENCE.exec(header);
    if (match === null) {
      const comma = header.indexOf(",", at);
      if (comma === -1) return;
      at = comma + 1;
      continue;
    }
    at += match[0].length;
    const [all, name, quoted, token = ""] = match;
    yield {
      name: name.toLowerCase(),
      value: quoted?.replaceAll(/\\(.)/g, "$1") ?? token,
      text: all.replace(/(?<![\s,;])[\s,;]+$/, "").trim(),
    };
  }
}

/** The effect of each preference. */
const TAKE: Readonly<Record<string, (found: Draft, value: string) => void>> = {
  archives({ route }, value) {
    route.only = idsOf(value);
  },
  "except-archives"({ route }, value) {
    route.except = idsOf(value);
  },
  from({ route }, value) {
    route.from = datetime("from", value, parsePaddedDatetime);
  },
  until({ route }, value) {
    route.until = datetime("until", value, lastSecondOf);
  },
  "top-k"({ route }, value) {
    route.topK = number("top-k", value, /^[1-9]\d{0,5}$/, "an integer of at least 1");
  },
  "min-likelihood"({ route }, value) {
    const pattern = /^(?:0?\.\d+|0|1(?:\.0+)?)$/;
    route.minLikelihood = number("min-likelihood", value, pattern, "a number from 0 to 1");
  },
  routing(found, value) {
    if (value !== "off" && value !== "on") throw bad("routing", value, "on or off");
    found.isBroadcast = value === "off";
  },
  wait(found, value) {
    found.waitMs = number("wait", value, /^\d{1,6}$/, "a number of seconds") * 1000;
  },
  "route-reasons"(found) {
    found.wantsReasons = true;
  },
};

/** Ids are separated by commas or whitespace. */
function idsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function datetime(name: string, value: string, read: (digits: string) => number): number {
  try {
    parsePaddedDatetime(value);
    return read(value);
  } catch (error) {
    if (isMementoMapError(error)) throw bad(name, value, "YYYY[MM[DD[hh[mm[ss]]]]]");
    throw error;
  }
}

function number(name: string, value: string, pattern: RegExp, expected: string): number {
  if (pattern.test(value)) return Number(value);
  throw bad(name, value, expected);
}

function bad(name: string, value: string, expected: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `the preference ${name} is ${quote(value)}; write ${expected}`,
  );
}

/** The cache mode requested by `Cache-Control`, or by the older `Pragma`. */
function howToAsk(headers: IncomingHttpHeaders): HowToAsk {
  const text = headers["cache-control"] ?? headers["pragma"] ?? "";
  if (/\bonly-if-cached\b/i.test(text)) return "only-cached";
  return /\b(?:no-cache|no-store|max-age=0)\b/i.test(text) ? "refresh" : "cached";
}
