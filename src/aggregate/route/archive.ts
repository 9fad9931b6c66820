import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { lastSecondOf, parsePaddedDatetime } from "../../memento/datetime.ts";
import { parseDatetimeKey } from "../../ukvs/record.ts";
import { isScope, SCOPE_EXPECTED } from "./scope.ts";
import { isJsonObject } from "../../ukvs/header.ts";

/** An archive that an aggregator may ask; a member of the list of archives. */
export interface Archive {
  /** Unique in its list; often the host name. */
  readonly id: string;
  readonly name: string;
  /** What an original URI is written behind, as it is, to ask for its TimeMap; ends in `/`. */
  readonly timemap: string | undefined;
  /** The same for a TimeGate. */
  readonly timegate: string | undefined;
  /** A CDX server, which is asked where there is no TimeMap. An archive has one of these three at least. */
  readonly cdx?: string | undefined;
  /** With `cdx`: what a datetime and a URI are written behind for the address of a memento; ends in `/`. */
  readonly replay?: string | undefined;
  /** How likely it is, from 0 to 1, that the archive holds a URI nothing else is known about. */
  readonly probability: number | undefined;
  /** What it collects: prefixes of keys, such as `gov,` and `com,example)/news/`. */
  readonly scope?: readonly string[] | undefined;
  /** Where its map is: an address to fetch from, or a path. */
  readonly mementomap: string | undefined;
  /** How long to wait for its answers at most, where it is not as for all others. */
  readonly timeoutMs: number | undefined;
  /** The archive holds nothing older than this, fourteen digits as a number. */
  readonly from: number | undefined;
  /** The archive holds nothing younger than this, fourteen digits as a number. */
  readonly until: number | undefined;
  /** Requests under way at once, at most; default of the aggregator when undefined. */
  readonly concurrency: number | undefined;
  /** Requests begun in a second, at most; default of the aggregator when undefined. */
  readonly rate: number | undefined;
}

/** The address of an archive itself, as far as its list tells: the origin it answers at. */
export function homeOf({
  timegate,
  timemap,
  cdx,
}: Pick<Archive, "timegate" | "timemap" | "cdx">): string {
  return new URL("/", timegate ?? timemap ?? cdx).href;
}

/**
 * Reads a list of archives: MemGator's `archives.json`, with the members of ours if there are some.
 *
 * Entries with `"ignore": true` are dropped, and a `/` is added to prefixes that lack one. The
 * likeliest come first, those without a probability last, and otherwise the order of the list holds.
 * Members that are not known stay on their archives.
 *
 * @param source what messages call the list.
 * @throws MM_BAD_INPUT with the number of the entry, counted from 1, and what is wrong with it.
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
  const entries = entriesOf(text, source);
  const archives: Archive[] = [];
  const numbers = new Map<string, number>();
  for (const [i, entry] of entries.entries()) {
    const reader = new EntryReader(entry, { number: i + 1, source });
    if (reader.isIgnored()) continue;
    const archive = reader.archive();
    const earlier = numbers.get(archive.id);
    if (earlier !== undefined) {
      throw reader.fault(`archive ${earlier} has the same "id"; ids must differ`);
    }
    numbers.set(archive.id, i + 1);
    archives.push(archive);
  }
  return archives.sort((a, b) => (b.probability ?? 0) - (a.probability ?? 0));
}

function entriesOf(text: string, source: string): readonly unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new MementoMapError("MM_BAD_INPUT", `not a list of archives: ${error.message}`, {
      position: { source },
      cause: error,
    });
  }
  if (Array.isArray(list)) return list;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    "not a list of archives: a JSON array of objects is expected",
    { position: { source } },
  );
}

/** Where an entry is, for messages. */
interface EntryPlace {
  readonly number: number;
  readonly source: string;
}

class EntryReader {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #place: EntryPlace;

  constructor(entry: unknown, place: EntryPlace) {
    this.#place = place;
    this.#members = isJsonObject(entry) ? entry : {};
    if (!isJsonObject(entry)) throw this.fault(`${shown(entry)} is not an object`);
  }

  isIgnored(): boolean {
    const ignore = this.#optional("ignore");
    if (ignore === undefined || typeof ignore === "boolean") return ignore === true;
    // Lists that are made by scripts have it as a text.
    if (ignore === "true" || ignore === "false") return ignore === "true";
    throw this.fault(`"ignore" is ${shown(ignore)}; true or false is expected`);
  }

  archive(): Archive {
    const id = this.#text("id");
    const timemap = this.#prefix("timemap");
    const timegate = this.#prefix("timegate");
    const cdx = this.#optional("cdx") === undefined ? undefined : this.#address("cdx");
    const replay = this.#prefix("replay");
    if (timemap === undefined && timegate === undefined && cdx === undefined) {
      throw this.fault(`it has no "timemap", "timegate" or "cdx"; one of them is needed to ask it`);
    }
    if (cdx !== undefined && replay === undefined) {
      throw this.fault(`it has "cdx" without "replay", the address that its mementos begin with`);
    }
    return {
      ...this.#members,
      id,
      name: this.#optional("name") === undefined ? id : this.#text("name"),
      timemap,
      timegate,
      ...(cdx === undefined ? {} : { cdx, replay }),
      probability: this.#number("probability", (value) => value >= 0 && value <= 1, "0 to 1"),
      scope: this.#scope(),
      mementomap: this.#optional("mementomap") === undefined ? undefined : this.#text("mementomap"),
      timeoutMs: this.#number("timeoutMs", isPositiveInteger, "an integer above 0"),
      from: this.#datetime("from", parsePaddedDatetime),
      until: this.#datetime("until", lastSecondOf),
      concurrency: this.#number("concurrency", isPositiveInteger, "an integer above 0"),
      rate: this.#number("rate", (value) => value > 0, "above 0"),
    };
  }

  fault(message: string): MementoMapError {
    const { number, source } = this.#place;
    const id = this.#members["id"];
    const name = typeof id === "string" ? ` (${quote(id)})` : "";
    return new MementoMapError("MM_BAD_INPUT", `archive ${number}${name}: ${message}`, {
      position: { source },
    });
  }

  /** MemGator takes null for nothing. */
  #optional(name: string): unknown {
    return this.#members[name] ?? undefined;
  }

  #text(name: string): string {
    const value = this.#members[name];
    if (typeof value === "string" && value !== "") return value;
    throw this.fault(
      value === undefined
        ? `it has no ${quote(name)}`
        : `${quote(name)} is ${shown(value)}; a text is expected`,
    );
  }

  #prefix(name: string): string | undefined {
    if (this.#optional(name) === undefined) return undefined;
    const value = this.#address(name);
    return value.endsWith("/") ? value : `${value}/`;
  }

  #address(name: string): string {
    const value = this.#text(name);
    const isWebAddress = /^https?:\/\//i.test(value) && URL.canParse(value);
    if (!isWebAddress) {
      throw this.fault(
        `${quote(name)} is ${quote(value)}; an address with http:// or https:// is expected`,
      );
    }
    return value;
  }

  #number(name: string, isGood: (value: number) => boolean, expected: string): number | undefined {
    const value = this.#optional(name);
    if (value === undefined || (typeof value === "number" && isGood(value))) return value;
    throw this.fault(`${quote(name)} is ${shown(value)}; a number is expected, ${expected}`);
  }

  #scope(): readonly string[] | undefined {
    const scope = this.#optional("scope");
    if (scope === undefined) return undefined;
    if (isScope(scope)) return scope;
    const wrong = Array.isArray(scope) ? scope.find((prefix) => !isScope([prefix])) : scope;
    throw this.fault(`"scope" has ${shown(wrong)}; ${SCOPE_EXPECTED}`);
  }

  #datetime(name: string, completed: (digits: string) => number): number | undefined {
    const value = this.#optional(name);
    if (value === undefined) return undefined;
    const text = typeof value === "number" ? String(value) : value;
    const isTime = typeof text === "string" && DATETIME.test(text);
    const digits = isTime ? text.replaceAll(/\D/g, "") : "";
    try {
      parseDatetimeKey(digits);
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      throw this.fault(
        `${quote(name)} is ${shown(value)}; a time is expected, as "2014", "2014-03-05" or "20140305101112"`,
      );
    }
    return completed(digits);
  }
}

const DATETIME = /^(?:\d{4}(?:\d\d){0,5}|\d{4}-\d\d(?:-\d\d)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;

function isPositiveInteger(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** JSON as it is in the list, cut to a readable length. */
function shown(value: unknown): string {
  if (typeof value === "string") return quote(value);
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
