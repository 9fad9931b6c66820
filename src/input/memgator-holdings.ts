import { lineBatches } from "../bytes/lines.ts";
import { rowLine, type RowSource, UNPROVEN_LINE } from "./rows.ts";
import { unbroken } from "../bytes/damage.ts";
import { badInput, MementoMapError, quote } from "../errors.ts";
import { MemgatorLog, type MemgatorOutcome } from "./memgator-log.ts";

interface MemgatorHoldingsOptions {
  /** The id of the archive to tell about; needed where a log has several. */
  readonly archive?: string | undefined;
  readonly source: string;
  readonly maxLineBytes: number;
}

/**
 * What the logs of an aggregator say one archive holds: of each URI the most mementos any answer had,
 * or 0 where it always answered that it has none. Errors say nothing. A URI with a query that the
 * archive lacks says nothing either: keys have no query, and `/a` may be held all the same. For every
 * other line of the log there is a row that proves nothing, so that all are accounted for.
 *
 * Holds every URI that was asked for, because the answers to it may be years apart.
 *
 * @throws MM_USAGE when no archive is chosen and the log has several, or does not have the chosen one.
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

/** What a block of a log tells. */
interface LoggedBatch {
  /** Lines. */
  readonly count: number;
  /** Those of the chosen archive. */
  readonly outcomes: readonly MemgatorOutcome[];
}

/** @throws MM_USAGE when no archive is chosen and the log has several, or lacks the chosen one. */
async function* loggedBatches(
  chunks: AsyncIterable<Uint8Array>,
  options: MemgatorHoldingsOptions,
  // Also those whose answers cannot be joined to a URI.
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
        `the log tells of several archives, ${quote(first)} and ${quote(second)} among them; choose one with --archive`,
      );
    }
    yield { count, outcomes };
  }
  if (archive === undefined || archives.has(archive)) return;
  const list = [...archives].slice(0, 20).map((name) => quote(name));
  throw misuse(
    `the log says nothing about archive ${quote(archive)}; it tells of ${list.join(", ") || "none"}`,
  );
}

/**
 * Turns the logs of an aggregator into a list of URIs that one archive did not have, a line each, in
 * the order they were asked for.
 *
 * Holds one block of the log.
 *
 * @throws MM_BAD_INPUT for a log without a miss whose URI is certain; MM_USAGE when no archive is chosen and the log has several, or does not have the chosen one.
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
    const whose = archive ?? [...archives][0];
    throw badInput(
      source,
      `the log has no miss of ${whose === undefined ? "any archive" : quote(whose)} whose URI is certain`,
    );
  }
}
