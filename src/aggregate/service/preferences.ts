import type { IncomingHttpHeaders } from "node:http";
import type { RouteRequest } from "../route/decision.ts";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";

/** What the headers of a request say about how it is to be answered. */
export interface Preferences {
  readonly route: Pick<
    RouteRequest,
    "only" | "except" | "from" | "until" | "topK" | "minLikelihood" | "referer"
  >;
  /** Whether every archive is to be asked. */
  readonly isBroadcast: boolean;
  /** Whether the answer is to say why archives were asked and were not. */
  readonly wantsReasons: boolean;
  /** How long it wants to wait (RFC 7240, 4.3). */
  readonly waitMs?: number | undefined;
  readonly cacheControl: string | undefined;
  /** The preferences that are honoured, for `Preference-Applied`. */
  readonly applied: string | undefined;
}

const NO_ROUTE: Preferences["route"] = {};
/** Of a request without preferences. */
export const NO_PREFERENCES: Preferences = {
  route: NO_ROUTE,
  isBroadcast: false,
  wantsReasons: false,
  cacheControl: undefined,
  applied: undefined,
};

/** Longer headers are ignored: matching them could take quadratic time. */
const MAX_HEADER_CHARACTERS = 1024;

/** A preference of RFC 7240: a token, and a value that is a token or a quoted string. */
const PREFERENCE =
  /\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?\s*(?:;[^,]*)?(?:,|$)/iy;

/**
 * Reads `Prefer` and its kin: which archives (`archives="a b"`, `except-archives="c"`), which time
 * (`from=2010`, `until=2014`), how many (`top-k=3`, `min-likelihood=0.1`), how long (`wait=5`), `routing=off`, and
 * `route-reasons`. `X-MemGator-Archive-Filter: a,!b` and `X-MementoMap-Route: 1` are other ways to
 * say the first and the last.
 *
 * Unknown preferences are ignored, as RFC 7240 requires.
 *
 * @throws MM_BAD_INPUT for a value that cannot be understood.
 */
export function readPreferences(headers: IncomingHttpHeaders): Preferences {
  const prefer = shortHeader(headers["prefer"]);
  const filter = shortHeader(headers["x-memgator-archive-filter"]);
  const wantsReasons = headers["x-mementomap-route"];
  const cacheControl = cacheControlOf(headers);
  const { referer } = headers;
  if (prefer === undefined && filter === undefined && wantsReasons === undefined) {
    if (cacheControl === undefined && referer === undefined) return NO_PREFERENCES;
    return {
      ...NO_PREFERENCES,
      cacheControl,
      route: referer === undefined ? NO_ROUTE : { referer },
    };
  }
  const found = new Found();
  if (filter !== undefined) found.filter(filter);
  if (prefer !== undefined) found.prefer(prefer);
  if (wantsReasons !== undefined) found.wantsReasons = true;
  return {
    route: { ...found.route, referer },
    isBroadcast: found.isBroadcast,
    waitMs: found.waitMs,
    wantsReasons: found.wantsReasons,
    cacheControl,
    applied: found.applied.length === 0 ? undefined : found.applied.join(", "),
  };
}

function shortHeader(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(", ") : value;
  return text === undefined || text.length > MAX_HEADER_CHARACTERS ? undefined : text;
}

class Found {
  readonly route: { -readonly [K in keyof Preferences["route"]]: Preferences["route"][K] } = {};
  isBroadcast = false;
  waitMs: number | undefined;
  wantsReasons = false;
  readonly applied: string[] = [];

  filter(text: string): void {
    const ids = idsOf(text);
    const except = ids.filter((id) => /^!./.test(id)).map((id) => id.slice(1));
    const only = ids.filter((id) => !id.startsWith("!"));
    if (only.length > 0) this.route.only = only;
    if (except.length > 0) this.route.except = except;
  }

  prefer(header: string): void {
    let at = 0;
    while (at < header.length) {
      PREFERENCE.lastIndex = at;
      const match = PREFERENCE.exec(header);
      if (match === null) {
        const comma = header.indexOf(",", at);
        if (comma === -1) return;
        at = comma + 1;
        continue;
      }
      at += match[0].length;
      const name = match[1].toLowerCase();
      const value = match[2]?.replaceAll(/\\(.)/g, "$1") ?? match[3] ?? "";
      if (this.#take(name, value))
        this.applied.push(match[0].replace(/(?<![\s,;])[\s,;]+$/, "").trim());
    }
  }

  #take(name: string, value: string): boolean {
    switch (name) {
      case "archives":
        this.route.only = idsOf(value);
        return true;
      case "except-archives":
        this.route.except = idsOf(value);
        return true;
      case "from":
        this.route.from = datetime(name, value);
        return true;
      case "until":
        datetime(name, value);
        this.route.until = lastSecondOf(value);
        return true;
      case "top-k":
        this.route.topK = number(name, value, /^[1-9]\d{0,5}$/);
        return true;
      case "min-likelihood":
        this.route.minLikelihood = number(name, value, /^(?:0?\.\d+|0|1(?:\.0+)?)$/);
        return true;
      case "routing":
        if (value !== "off" && value !== "on") throw bad(name, value, "on or off");
        this.isBroadcast = value === "off";
        return true;
      case "wait":
        this.waitMs = number(name, value, /^\d{1,6}$/) * 1000;
        return true;
      case "route-reasons":
        this.wantsReasons = true;
        return true;
      default:
        return false;
    }
  }
}

/** Ids are apart by commas or blanks. */
function idsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function datetime(name: string, value: string): number {
  try {
    return parsePaddedDatetime(value);
  } catch (error) {
    if (isMementoMapError(error)) throw bad(name, value, "YYYY[MM[DD[hh[mm[ss]]]]]");
    throw error;
  }
}

function number(name: string, value: string, pattern: RegExp): number {
  if (pattern.test(value)) return Number(value);
  throw bad(
    name,
    value,
    name === "wait"
      ? "a number of seconds"
      : name === "top-k"
        ? "a whole number from 1 up"
        : "a number from 0 to 1",
  );
}

function bad(name: string, value: string, expected: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `the preference ${name} is ${quote(value)}; write ${expected}`,
  );
}

/** What of `Cache-Control` is passed on to the caches of answers; `Pragma` as of old. */
function cacheControlOf(headers: IncomingHttpHeaders): string | undefined {
  const text = headers["cache-control"] ?? headers["pragma"];
  if (text === undefined) return undefined;
  if (/\bonly-if-cached\b/i.test(text)) return "only-if-cached";
  return /\b(?:no-cache|no-store|max-age=0)\b/i.test(text) ? "no-cache" : undefined;
}
