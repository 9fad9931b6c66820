import { lineBatches } from "../bytes/lines.ts";
import { rowLine, type RowSource, UNPROVEN_LINE } from "./rows.ts";
import { unbroken } from "../bytes/damage.ts";
import { badInput, MementoMapError, quote } from "../errors.ts";
import { MemgatorLog, type MemgatorOutcome } from "./memgator-log.ts";

interface MemgatorHoldingsOptions {
  /** The id of the archive; required if the log has several. */
  readonly archive?: string | undefined;
  readonly source: string;
  readonly maxLineBytes: number;
}

/**
 * The holdings of one archive, from the logs of an aggregator: for each URI, the highest number of
 * mementos in any response, or 0 if all responses were misses. Errors are ignored, and so are misses
 * of URIs with a query: keys have no query, and `/a` may still be held. All other lines of the log
 * become unproven rows, so that the line count is complete.
 *
 * Holds every requested URI, because its responses may be years apart.
 *
 * @throws MM_USAGE when no archive is selected and the log has several, or lacks the selected one.
 */
export const memgatorHoldings: RowSource = async function* (parts, options) {
  const mementosOf = new Map<string, number>();
  let lines = 0;
  for await (const { count, outcomes } of loggedBatches(unbroken(parts, options.source), options)) {
    lines += count;
    for (const { uri, result, mementos } of outcomes) {
      if (result === "error") continue;
      mementosOf.set(uri, Math.max(mementosOf.get(uri) ?? 0, mementos));
    }
  }
  let others = lines;
  for (const [uri, mementos] of mementosOf) {
    if (mementos === 0 && uri.includes("?")) continue;
    yield rowLine({ uri }, mementos);
    others--;
  }
  for (; others > 0; others--) yield UNPROVEN_LINE;
};

/** The outcomes in a block of a log. */
interface LoggedBatch {
  /** Lines. */
  readonly count: number;
  /** Outcomes of the selected archive. */
  readonly outcomes: readonly MemgatorOutcome[];
}

/** @throws MM_USAGE when no archive is selected and the log has several, or lacks the selected one. */
async function* loggedBatches(
  chunks: AsyncIterable<Uint8Array>,
  options: MemgatorHoldingsOptions,
  // Including archives whose responses cannot be matched to a URI.
  archives: Set<string> = new Set(),
): AsyncGenerator<LoggedBatch, void, undefined> {
  const { archive, source } = options;
  const misuse = (message: string): MementoMapError =>
    new MementoMapError("MM_USAGE", message, { position: { source } });
  const decoder = new TextDecoder();
  const log = new MemgatorLog({ answered: (one) => void archives.add(one) });
  for await (const { bytes, starts, ends, count } of lineBatches(chunks, options)) {
    const outcomes: MemgatorOutcome[] = [];
    for (let i = 0; i < count; i++) {
      const outcome = log.read(decoder.decode(bytes.subarray(starts[i], ends[i])));
      if (outcome === undefined) continue;
      if (archive === undefined || outcome.archive === archive) outcomes.push(outcome);
    }
    const [first, second] = archives;
    if (archive === undefined && second !== undefined) {
      throw misuse(
        `the log has several archives, including ${quote(first)} and ${quote(second)}; select one with --archive`,
      );
    }
    yield { count, outcomes };
  }
  if (archive === undefined || archives.has(archive)) return;
  const list = [...archives].slice(0, 20).map((name) => quote(name));
  throw misuse(`the log has no archive ${quote(archive)}, only ${list.join(", ") || "none"}`);
}

/**
 * Lists the URIs that were misses in one archive, from the logs of an aggregator: one per line, in
 * the order of the requests.
 *
 * Holds one block of the log.
 *
 * @throws MM_BAD_INPUT for a log without a miss of a known URI; MM_USAGE when no archive is selected
 *   and the log has several, or lacks the selected one.
 */
export async function* memgatorMisses(
  chunks: AsyncIterable<Uint8Array>,
  options: MemgatorHoldingsOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { archive, source } = options;
  const archives = new Set<string>();
  const encoder = new TextEncoder();
  let isEmpty = true;
  for await (const { outcomes } of loggedBatches(chunks, options, archives)) {
    const misses = outcomes.filter(({ result }) => result === "miss");
    if (misses.length === 0) continue;
    isEmpty = false;
    yield encoder.encode(misses.map(({ uri }) => `${uri}\n`).join(""));
  }
  if (isEmpty) {
    const name = archive ?? [...archives][0];
    throw badInput(
      source,
      `no miss of ${name === undefined ? "any archive" : quote(name)} in the log can be matched to a URI`,
    );
  }
}
