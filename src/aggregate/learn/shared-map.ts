import { isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { parseRecord } from "../../ukvs/record.ts";
import { lineEnd, nextLine } from "../../ukvs/row.ts";
import type { Learner } from "./learner.ts";

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
 * Takes what others learnt of an archive, from a map of the form in `docs/learning.md`: as answers that it might
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

const decoder = new TextDecoder("latin1");
