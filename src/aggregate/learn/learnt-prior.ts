import { parseRecord } from "../../ukvs/record.ts";
import { isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { lineEnd, nextLine } from "../../map/lookup/map-row.ts";
import { type Learner, MAP_TAKEN } from "./learner.ts";

/** A map in memory. */
interface HeldMap {
  readonly headers: UkvsHeaders;
  readonly bytes: Uint8Array;
}

/**
 * However many lookups others counted below a prefix, they are worth fewer than these: as many answers of
 * the archive itself weigh more.
 */
const MOST_WORTH = 100;
/** Rows that are taken at a time. */
const AT_A_TIME = 1000;

/**
 * Takes what others learnt of an archive, from a map as `learntMap` makes it: as answers that it might
 * have given, which its own answers outweigh. Rows that do not say how many lookups they rest on are
 * passed over. `pause` is awaited every few milliseconds of work.
 *
 * Once for each source and archive, also after a restart; gives the rows that were taken.
 */
export async function takeLearntMap(
  learner: Learner,
  archive: string,
  map: HeldMap,
  { source, pause }: { readonly source: string; readonly pause: () => Promise<void> },
): Promise<number> {
  const name = `${MAP_TAKEN}${archive} ${source}`;
  if (learner.numberOf(archive) < 0 || learner.taken.has(name) || !isSampleMap(map)) return 0;
  let taken = 0;
  for (const [key, lookups, hits] of learntRows(map)) {
    const number = learner.numberOf(archive);
    if (number < 0) return taken;
    const worth = MOST_WORTH / (MOST_WORTH + lookups);
    learner.seed(number, encoder.encode(key.slice(0, -1)), worth * lookups, worth * hits);
    taken++;
    if (taken % AT_A_TIME === 0) await pause();
  }
  if (taken > 0) learner.noteTaken([name]);
  return taken;
}

/** Whether a map knows only what was looked up; see `learntMap`. */
function isSampleMap({ headers }: HeldMap): boolean {
  return headers.meta["sample"] === true;
}

type LearntRow = readonly [key: string, lookups: number, hits: number];

function* learntRows({ headers, bytes }: HeldMap): Generator<LearntRow, void, undefined> {
  const { misses } = headers.meta;
  for (const [key, lookups] of isJsonObject(misses) ? Object.entries(misses) : []) {
    if (isPrefix(key) && isCount(lookups)) yield [key, lookups, 0];
  }
  for (let start = 0; start < bytes.length;) {
    const end = lineEnd(bytes, start);
    const row = rowAt(bytes, start, end, headers);
    if (row !== undefined) yield row;
    start = nextLine(bytes, end);
  }
}

function rowAt(
  bytes: Uint8Array,
  start: number,
  end: number,
  { fields }: UkvsHeaders,
): LearntRow | undefined {
  const line = decoder.decode(bytes.subarray(start, end));
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
