import { mapHeaders } from "../../generate/map-rows.ts";
import { isJsonObject, SizedHead, type UkvsHeaders } from "../../ukvs/header.ts";
import { formatRecord, parseRecord } from "../../ukvs/record.ts";
import { lineEnd, nextLine } from "../../ukvs/row.ts";
import type { Learner } from "./learner.ts";

/** What a map of what was learnt says of itself. */
export interface LearntMapDescription {
  /** The URI of the archive. */
  readonly id: string;
  /** Its name, for people. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The program that made the map, with its version. */
  readonly generator?: string | undefined;
}

/** A prefix is published only if as many different originals below it were looked up. */
const MIN_LOOKUPS = 5;
/** Without a hit among as many originals, fewer than one in a hundred is held, with a confidence of 95 %. */
const VOID_LOOKUPS = 300;
/** Nothing is void that fewer networks looked up, or on fewer days: anybody can look up what nobody holds. */
const VOID_NETWORKS = 5;
const VOID_DAYS = 7;
/** Wider prefixes are never void; without hits, those that were looked up most stand in a header. */
const MAX_MISSES = 1000;
/** What is deeper may be the name of one person's folder. */
const MAX_FOLDERS = 2;

/**
 * What was learnt of an archive, as a map: a sample, with a wildcard for each prefix that something was
 * found below, and a void for hosts and folders of which enough was looked up without a hit, by enough networks
 * on enough days. `lookups` of a row says how many different originals its counts rest on. `misses` of `!meta`
 * are wider prefixes without hits, which is too little to call them void.
 *
 * Undefined as long as nothing was found. It names no single original.
 */
export function learntMap(
  learner: Learner,
  archive: string,
  description: LearntMapDescription,
): Uint8Array | undefined {
  const { counts } = learner;
  const number = learner.numberOf(archive);
  if (number < 0) return undefined;
  const rows: string[] = [];
  const misses: [key: string, lookups: number][] = [];
  const voids = new Set<string>();
  // What is above comes first, as keys of a tree do.
  for (const prefix of counts.rows.keys.filter(isPublishable).sort()) {
    const row = counts.rows.find(prefix);
    const lookups = Math.floor(counts.asked(row, number));
    if (lookups < MIN_LOOKUPS) continue;
    const found = counts.hits(row, number);
    // A hit of long ago still says that the prefix is not void.
    const hits = found === 0 ? 0 : Math.min(lookups, Math.max(1, Math.round(found)));
    if (hits > 0) rows.push(rowText(prefix, `${hits}+/${hits}~`, lookups));
    else if (!prefix.endsWith("/")) misses.push([`${prefix}*`, lookups]);
    else if (lookups >= VOID_LOOKUPS && ![...folders(prefix)].some((above) => voids.has(above))) {
      const { networks, days } = counts.witnesses(row);
      if (networks < VOID_NETWORKS || days < VOID_DAYS) continue;
      voids.add(prefix);
      rows.push(rowText(prefix, "0", lookups));
    }
  }
  const all = counts.rows.find("");
  if (all < 0 || counts.hits(all, number) === 0) return undefined;
  misses.sort((a, b) => b[1] - a[1]);
  // Keys are ASCII, in which this is the order of bytes.
  const body = encoder.encode(`${rows.sort().join("\n")}\n`);
  const { id, name, now, generator } = description;
  const updatedAt = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const headers = mapHeaders(
    { id, name, updatedAt, generator, isSample: true, canonicalization: "surt" },
    {},
  ).with({
    name: "meta",
    value: { misses: Object.fromEntries(misses.slice(0, MAX_MISSES)) },
  });
  const head = new SizedHead(headers).bytes({ bytes: body.length, records: rows.length });
  const map = new Uint8Array(head.length + body.length);
  map.set(head);
  map.set(body, head.length);
  return map;
}

/** The host and folders above a folder. */
function* folders(prefix: string): Generator<string, void, undefined> {
  for (let at = prefix.indexOf("/"); at >= 0 && at < prefix.length - 1;) {
    yield prefix.slice(0, at + 1);
    at = prefix.indexOf("/", at + 1);
  }
}

/** Whether a prefix can be written as a key: of printable characters, without a port in a domain, and not deep. */
function isPublishable(prefix: string): boolean {
  if (prefix === "") return true;
  if (!/^[!-~]+$/.test(prefix) || prefix.includes("*") || /^[!@"{]/.test(prefix)) return false;
  if (prefix.endsWith(",")) return !prefix.includes(":");
  return prefix.endsWith("/") && prefix.split("/").length <= 2 + MAX_FOLDERS;
}

function rowText(prefix: string, frequency: string, lookups: number): string {
  const record = { keys: [`${prefix}*`], values: [frequency], json: { lookups } };
  return formatRecord(record, { keys: ["surt"], values: ["frequency"] });
}

/** A map in memory. */
interface OpenMap {
  readonly headers: UkvsHeaders;
  readonly bytes: Uint8Array;
}

/**
 * However many lookups others counted below a prefix, they are worth fewer than these: as many answers of
 * the archive itself weigh more.
 */
const MAX_WORTH = 100;

/**
 * Takes what others learnt of an archive, from a map as {@link learntMap} makes it: as answers that it might
 * have given, which its own answers outweigh. Rows that do not say how many lookups they rest on are
 * skipped.
 *
 * Once for each source and archive, also after a restart; gives the rows that were taken.
 */
export function takeLearntMap(
  learner: Learner,
  archive: string,
  map: OpenMap,
  source: string,
): number {
  const name = `map ${archive} ${source}`;
  const number = learner.numberOf(archive);
  if (number < 0 || learner.taken.has(name) || map.headers.meta["sample"] !== true) return 0;
  let taken = 0;
  for (const [key, lookups, hits] of learntRows(map)) {
    const worth = MAX_WORTH / (MAX_WORTH + lookups);
    learner.seed(number, key.slice(0, -1), worth * lookups, worth * hits);
    taken++;
  }
  if (taken > 0) learner.taken.add(name);
  return taken;
}

type LearntRow = readonly [key: string, lookups: number, hits: number];

function* learntRows({ headers, bytes }: OpenMap): Generator<LearntRow, void, undefined> {
  const { misses } = headers.meta;
  for (const [key, lookups] of isJsonObject(misses) ? Object.entries(misses) : []) {
    if (isPrefix(key) && isCount(lookups)) yield [key, lookups, 0];
  }
  for (let start = 0; start < bytes.length;) {
    const end = lineEnd(bytes, start);
    const row = rowAt(decoder.decode(bytes.subarray(start, end)), headers);
    if (row !== undefined) yield row;
    start = nextLine(bytes, end);
  }
}

function rowAt(line: string, { fields }: UkvsHeaders): LearntRow | undefined {
  if (/^[!@]/.test(line) || !line.includes('"lookups"')) return undefined;
  const { keys, values, json } = parseRecord(line, fields);
  const [key, lookups] = [keys[0], json?.["lookups"]];
  // Of originals, where both are stated.
  const counted = /^(\d+)[^/]*(?:\/(\d+))?/.exec(values[0] ?? "");
  const hits = Number(counted?.[2] ?? counted?.[1]);
  if (!isPrefix(key) || !isCount(lookups) || Number.isNaN(hits)) return undefined;
  return [key, lookups, Math.min(lookups, hits)];
}

function isPrefix(key: string): boolean {
  return key === "*" || key.endsWith(",*") || key.endsWith("/*");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");
