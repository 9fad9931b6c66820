import { readFileSync } from "node:fs";
import { MementoMapError, quote } from "../src/errors.ts";

/** Captures by key. */
type KeyCounts = ReadonlyMap<string, number>;

/** The largest share of rows in which two compactions may differ for the reasons given below. */
const MOST_COMPACTED_DIFFERENCE = 0.01;

/**
 * Says that the Unix pipeline counted the same captures of the same keys.
 *
 * Known difference, taken care of: the pipeline keeps trailing slashes.
 *
 * @throws {MementoMapError} `MM_BAD_INPUT` where they differ.
 */
export function pipelineAgrees(map: string, pipeline: string): string {
  const ours = readMap(map);
  const theirs = new Map<string, number>();
  for (const line of linesOf(pipeline)) {
    const [count, key] = line.trim().split(" ");
    addTo(theirs, key.replace(/(?<=[^)])\/+$/, ""), Number(count));
  }
  requireSame(ours, theirs, "the Unix pipeline");
  return `The pipeline counts the same captures of the same ${ours.size.toLocaleString("en-US")} keys.`;
}

/**
 * Says that the reference counted the same captures of the same keys.
 *
 * Known differences, taken care of: it writes a key more than once where a query was cut off, it
 * writes the home page without a slash, and it drops hosts of a single label.
 *
 * @throws {MementoMapError} `MM_BAD_INPUT` where they differ in anything else.
 */
export function referenceAgrees(map: string, reference: string): string {
  const ours = new Map(readMap(map));
  const rows = linesOf(reference).length;
  const theirs = readMap(reference);
  const singleLabels = [...ours.keys()].filter((key) => /^[^,)]+\)/.test(key));
  for (const key of singleLabels) ours.delete(key);
  requireSame(ours, theirs, "the reference");
  return (
    `The reference counts the same captures of the same ${theirs.size.toLocaleString("en-US")} keys, ` +
    `in ${rows.toLocaleString("en-US")} rows; keys of single-label hosts it lacks: ${singleLabels.length}.`
  );
}

/**
 * Compares two compactions of one map.
 *
 * They may differ a little. In byte order `/a-b` stands between `/a` and `/a/b`. The reference then
 * counts `a` twice as a child, so it rolls up sooner; and leaves the row of `/a` beside `/a/*`,
 * which covers it.
 *
 * @throws {MementoMapError} `MM_BAD_INPUT` if they differ in more than 1 % of the rows.
 */
export function compactionsAgree(compacted: string, reference: string): string {
  const ours = readMap(compacted);
  const theirs = readMap(reference);
  const onlyOurs = [...ours.keys()].filter((key) => !theirs.has(key)).length;
  const onlyTheirs = [...theirs.keys()].filter((key) => !ours.has(key)).length;
  const common = ours.size - onlyOurs;
  if (onlyOurs + onlyTheirs > MOST_COMPACTED_DIFFERENCE * ours.size) {
    throw disagreement(`${onlyOurs} rows are only in ours, ${onlyTheirs} only in the reference's`);
  }
  return (
    `Compacted: ${common.toLocaleString("en-US")} rows are in both, ${onlyOurs} only in ours, ` +
    `${onlyTheirs} only in the reference's (it counts \`/a\` and \`/a/b\` as two children when ` +
    "`/a-b` sorts between them)."
  );
}

/**
 * Says that two batches of lookups found the same.
 *
 * @param answers ours; the reference prints nothing for what is absent, and the input last.
 * @throws {MementoMapError} `MM_BAD_INPUT` where they differ.
 */
export function lookupsAgree(answers: string, printed: string): string {
  const asked = linesOf(answers);
  const ours = asked
    .filter((line) => line.split("\t")[1] === "present")
    .map((line) => line.split("\t")[0]);
  const theirs = printed
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").at(-1));
  const different = ours.findIndex((surt, i) => surt !== theirs[i]);
  if (different !== -1 || ours.length !== theirs.length) {
    const at = different === -1 ? "after the last" : `at ${quote(ours[different])}`;
    throw disagreement(`lookups: ${ours.length} and ${theirs.length} present, different ${at}`);
  }
  return (
    `Of ${asked.length.toLocaleString("en-US")} lookups both find the same ` +
    `${ours.length.toLocaleString("en-US")} present.`
  );
}

/** The keys of a map, home pages as `com,cnn)/`, with their captures added up. */
function readMap(path: string): KeyCounts {
  const counts = new Map<string, number>();
  for (const line of linesOf(path)) {
    if (line.startsWith("!")) continue;
    const [key, count] = line.split(" ");
    addTo(counts, key.endsWith(")") ? `${key}/` : key, Number(count));
  }
  return counts;
}

function addTo(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function linesOf(path: string): string[] {
  return readFileSync(path, "latin1").split("\n").slice(0, -1);
}

function requireSame(ours: KeyCounts, theirs: KeyCounts, name: string): void {
  for (const [key, count] of ours) {
    if (theirs.get(key) !== count) {
      throw disagreement(
        `${name} has ${theirs.get(key) ?? "no"} captures of ${quote(key)}, we ${count}`,
      );
    }
  }
  if (theirs.size !== ours.size) {
    throw disagreement(`${name} has ${theirs.size} keys, we ${ours.size}`);
  }
}

function disagreement(what: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", `results differ: ${what}`);
}
