import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";
import { parseDatetimeKey } from "../../ukvs/record.ts";
import { isJsonObject } from "../../ukvs/header.ts";

/** An entry of the list of archives that an aggregator may query. */
export interface Archive {
  /** Unique in its list; often the host name. */
  readonly id: string;
  readonly name: string;
  /** Prefix of TimeMap URLs, followed by the unchanged original URI; ends in `/`. */
  readonly timemap: string | undefined;
  /** The same for a TimeGate. */
  readonly timegate: string | undefined;
  /** A CDX server, which is queried if there is no TimeMap. An archive has at least one of these three. */
  readonly cdx?: string | undefined;
  /** With `cdx`: prefix of memento URLs, followed by a datetime and a URI; ends in `/`. */
  readonly replay?: string | undefined;
  /** The probability, from 0 to 1, that the archive holds a URI about which nothing else is known. */
  readonly probability: number | undefined;
  /** Its collection: prefixes of keys, such as `gov,` and `com,example)/news/`. */
  readonly scope?: readonly string[] | undefined;
  /** Location of its map: a URL or a path. */
  readonly mementomap: string | undefined;
  /** Timeout for its responses; default that of the aggregator. */
  readonly timeoutMs: number | undefined;
  /** The earliest memento, fourteen digits as a number. */
  readonly from: number | undefined;
  /** The latest memento, fourteen digits as a number. */
  readonly until: number | undefined;
  /** Maximum requests in flight; default that of the aggregator. */
  readonly concurrency: number | undefined;
  /** Maximum requests started per second; default that of the aggregator. */
  readonly rate: number | undefined;
}

/** The origin of the archive, as far as its entry names one. */
export function homeOf({
  timegate,
  timemap,
  cdx,
}: Pick<Archive, "timegate" | "timemap" | "cdx">): string {
  return new URL("/", timegate ?? timemap ?? cdx).href;
}

/**
 * Parses a list of archives: MemGator's `archives.json`, optionally with our additional members.
 *
 * Entries with `"ignore": true` are dropped, and a `/` is added to prefixes that lack one. Archives are
 * sorted by descending probability, those without one last, and otherwise keep the order of the list.
 * Unknown members stay on their archives.
 *
 * @param source the name of the list in messages.
 * @throws MM_BAD_INPUT with the number of the entry, counted from 1, and its error.
 *
 * @example
 * ```ts
 * import { parseArchiveList } from "mementomap";
 *
 * const list = JSON.stringify([{ id: "a", timemap: "https://a.example/timemap/link/" }]);
 * console.log(parseArchiveList(list).map(({ id }) => id));
 * ```
 * ```
 * [ 'a' ]
 * ```
 */
export function parseArchiveList(text: string, source: string = "archives.json"): Archive[] {
  const archives: Archive[] = [];
  const numbers = new Map<string, number>();
  for (const [i, entry] of entriesOf(text, source).entries()) {
    const fault = faultOf(entry, { number: i + 1, source });
    const archive = archiveOf(entry, fault);
    if (archive === undefined) continue;
    const earlier = numbers.get(archive.id);
    if (earlier !== undefined) {
      throw fault(`archive ${earlier} has the same "id"; ids must differ`);
    }
    numbers.set(archive.id, i + 1);
    archives.push(archive);
  }
  return archives.sort((a, b) => (b.probability ?? 0) - (a.probability ?? 0));
}

function entriesOf(text: string, source: string): readonly unknown[] {
  const notOne = (message: string, cause?: unknown): MementoMapError =>
    new MementoMapError("MM_BAD_INPUT", `not a list of archives: ${message}`, {
      position: { source },
      cause,
    });
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw notOne(error.message, error);
    throw error;
  }
  if (Array.isArray(list)) return list;
  throw notOne("a JSON array of objects is expected");
}

type Fault = (message: string) => MementoMapError;

function faultOf(
  entry: unknown,
  { number, source }: { readonly number: number; readonly source: string },
): Fault {
  const id = isJsonObject(entry) ? entry["id"] : undefined;
  const name = typeof id === "string" ? ` (${quote(id)})` : "";
  return (message) =>
    new MementoMapError("MM_BAD_INPUT", `archive ${number}${name}: ${message}`, {
      position: { source },
    });
}

/** The archive of an entry; undefined if the entry is ignored. */
function archiveOf(entry: unknown, fault: Fault): Archive | undefined {
  if (!isJsonObject(entry)) throw fault(`${jsonText(entry)} is not an object`);
  /** The value of a member; undefined if missing or null, as in MemGator. */
  const member = <T>(
    name: string,
    read: (value: unknown) => T | undefined,
    expected: string,
  ): T | undefined => {
    const value = entry[name] ?? undefined;
    if (value === undefined) return undefined;
    const found = read(value);
    if (found === undefined) throw fault(`${quote(name)} is ${jsonText(value)}; ${expected}`);
    return found;
  };
  const text = (name: string): string | undefined =>
    member(name, asText, "expected a non-empty string");
  const address = (name: string): string | undefined => {
    text(name);
    const found = member(name, asAddress, "expected an http:// or https:// URL");
    if (found === undefined || !namesUser(found)) return found;
    throw fault(`${quote(name)} contains credentials, which are not supported`);
  };
  const prefix = (name: string): string | undefined => address(name)?.replace(/(?<!\/)$/, "/");
  const number = (
    name: string,
    isGood: (value: number) => boolean,
    which: string,
  ): number | undefined =>
    member(
      name,
      (value) => (typeof value === "number" && isGood(value) ? value : undefined),
      `expected a number, ${which}`,
    );
  const time = (name: string, completed: (digits: string) => number): number | undefined => {
    const digits = member(name, asDigits, TIME_EXPECTED);
    return digits === undefined ? undefined : completed(digits);
  };

  if (member("ignore", asBoolean, "expected true or false") === true) return undefined;
  const id = text("id");
  if (id === undefined) throw fault(`it has no "id"`);
  const [timemap, timegate] = [prefix("timemap"), prefix("timegate")];
  const [cdx, replay] = [address("cdx"), prefix("replay")];
  if (timemap === undefined && timegate === undefined && cdx === undefined) {
    throw fault(`it has no "timemap", "timegate" or "cdx"; at least one is required`);
  }
  if (cdx !== undefined && replay === undefined) {
    throw fault(`it has "cdx" without "replay", the prefix of its memento URLs`);
  }
  const scope = entry["scope"] ?? undefined;
  if (scope !== undefined && !isScope(scope)) {
    const wrong = Array.isArray(scope) ? scope.find((each) => !isScope([each])) : scope;
    throw fault(`"scope" has ${jsonText(wrong)}; ${SCOPE_EXPECTED}`);
  }
  return {
    ...entry,
    id,
    name: text("name") ?? id,
    timemap,
    timegate,
    ...(cdx === undefined ? {} : { cdx, replay }),
    probability: number("probability", (value) => value >= 0 && value <= 1, "0 to 1"),
    scope,
    mementomap: text("mementomap"),
    timeoutMs: number("timeoutMs", isPositiveInteger, "an integer above 0"),
    from: time("from", parsePaddedDatetime),
    until: time("until", lastSecondOf),
    concurrency: number("concurrency", isPositiveInteger, "an integer above 0"),
    rate: number("rate", (value) => value > 0, "above 0"),
  };
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function asAddress(value: unknown): string | undefined {
  const text = asText(value);
  return text !== undefined && isWebAddress(text) && URL.canParse(text) ? text : undefined;
}

function namesUser(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}

/** A boolean, or its string, as generated lists may have it. */
function asBoolean(value: unknown): boolean | undefined {
  return [true, false].find((each) => value === each || value === String(each));
}

const DATETIME = /^(?:\d{4}(?:\d\d){0,5}|\d{4}-\d\d(?:-\d\d)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;
const TIME_EXPECTED = 'expected a time such as "2014", "2014-03-05" or "20140305101112"';

/** The digits of a valid time. */
function asDigits(value: unknown): string | undefined {
  const text = String(value);
  const digits = DATETIME.test(text) ? text.replaceAll(/\D/g, "") : "";
  try {
    parseDatetimeKey(digits);
    return digits;
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
}

function isPositiveInteger(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** The JSON of a value, cut to a readable length. */
function jsonText(value: unknown): string {
  if (typeof value === "string") return quote(value);
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Whether a text is a web address rather than a path. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

const LABEL = String.raw`[a-z0-9:._%~[\]-]+`;
/** Labels ending in a comma; or a complete host, and folders of it. */
const SCOPE = new RegExp(
  String.raw`^(?:(?:${LABEL},)+|(?:${LABEL},)*${LABEL}\)(?:/(?:[!-@[-~]*/)?)?)$`,
);

/** The message about an invalid scope. */
export const SCOPE_EXPECTED =
  "expected a list of prefixes of keys, in lower case, such as" +
  ' ["gov,", "com,example)/news/"] for http://….gov/ and http://example.com/news/';

/**
 * Whether a value is the scope of an archive: prefixes of keys that end at the end of a label, a host or a folder.
 * Any other prefix would cover too much: `gov` the whole Web.
 */
export function isScope(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.every((prefix) => typeof prefix === "string" && SCOPE.test(prefix))
  );
}
