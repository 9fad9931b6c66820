import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { lineBatches, MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { internalFault, isMementoMapError, quote } from "../../errors.ts";
import { openInput } from "../../files/input-file.ts";
import { withOutput } from "../../files/output-file.ts";
import { stampIfThere } from "../../files/shared-files.ts";
import { MemgatorLog } from "../../input/memgator-log.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { Learner, type LearnerOptions, type LearntArchive } from "./learner.ts";
import { restoreSnapshot, snapshotOf } from "./snapshot.ts";

/** How an aggregator learns and stores its learnt state. */
export interface LearnOptions extends LearnerOptions {
  /** File of the learnt state; without one it is lost on exit. */
  readonly file?: string | undefined;
  /** Logs of aggregators to learn from at the start, ours or MemGator's; each is read once. */
  readonly logs?: readonly string[] | undefined;
  /** Whether this process writes the file; default true. */
  readonly isSaving?: boolean | undefined;
  /** Called if the file cannot be read or written; the service continues. */
  readonly onFault?: ((message: string, reason: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A learner whose state survives restarts. */
export interface KeptLearner {
  readonly learner: Learner;
  /** Saves new state, for the last time. */
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 10_000;
const MAX_UNSAVED_MS = 300_000;
/** State is saved when this fraction of the answers is new. */
const SAVE_GROWTH = 0.1;

/**
 * Creates a learner with its saved state and the answers in old logs.
 *
 * State is saved when a tenth of it is new, at least every five minutes, and at the end; writes are
 * atomic. An unreadable file is reported, and learning starts from nothing.
 *
 * @throws MM_IO for a log that cannot be read; MM_INTERRUPTED
 */
export async function openLearner(
  archives: readonly LearntArchive[],
  options: LearnOptions,
): Promise<KeptLearner> {
  const { file, logs = [], isSaving = true, onFault } = options;
  const learner = new Learner(archives, options);
  if (file !== undefined && existsSync(file)) await restore(learner, file, onFault);
  for (const log of logs) await readLog(learner, log, options);
  if (file === undefined || !isSaving) return { learner, close: () => Promise.resolve() };
  let [saved, savedAt] = [learner.observations, Date.now()];
  const write = async (): Promise<void> => {
    const { observations } = learner;
    if (observations === saved) return;
    try {
      const snapshot = snapshotOf(learner);
      await withOutput(file, { stdout: process.stdout }, async (output) => output.write(snapshot));
      [saved, savedAt] = [observations, Date.now()];
    } catch (error) {
      onFault?.("the learnt state cannot be saved", internalFault(error, "MM_IO").describe());
    }
  };
  let saving = Promise.resolve();
  const timer = setInterval(() => {
    const isMore = learner.observations >= saved * (1 + SAVE_GROWTH);
    if (isMore || Date.now() - savedAt >= MAX_UNSAVED_MS) saving = saving.then(write);
  }, CHECK_EVERY_MS).unref();
  return {
    learner,
    async close() {
      clearInterval(timer);
      await saving;
      await write();
    },
  };
}

async function restore(
  learner: Learner,
  path: string,
  onFault: LearnOptions["onFault"],
): Promise<void> {
  try {
    restoreSnapshot(learner, await readFile(path), path);
  } catch (error) {
    const reason = isMementoMapError(error) ? error.describe() : String(error);
    onFault?.("the learnt state cannot be read; learning starts from nothing", reason);
  }
}

/** Learns from the log of an aggregator in which every archive was queried, unless it was read before. */
async function readLog(learner: Learner, path: string, options: LearnOptions): Promise<void> {
  const stamp = await stampIfThere(path);
  const start = `log ${path} `;
  const name = `${start}${stamp?.size ?? 0} ${stamp?.mtimeMs ?? 0}`;
  if (stamp !== undefined && learner.taken.has(name)) return;
  if ((await learnFrom(learner, path, options.signal)) === 0) {
    const reason = `${quote(path)}: no archive response found`;
    options.onFault?.("a log to learn from is unusable", reason);
  }
  for (const other of learner.taken) if (other.startsWith(start)) learner.taken.delete(other);
  if (stamp !== undefined) learner.taken.add(name);
}

/** The number of responses in a log. */
async function learnFrom(
  learner: Learner,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const input = await openInput(path, { stdin: process.stdin }, { signal });
  const decoder = new TextDecoder();
  const log = new MemgatorLog({ asked: () => learner.policy.begin() });
  let [uri, key, responses] = ["", "", 0];
  const limits = { source: input.name, maxLineBytes: MAX_LINE_BYTES };
  for await (const { bytes, starts, ends, count } of lineBatches(input.chunks, limits)) {
    for (let i = 0; i < count; i++) {
      const outcome = log.read(decoder.decode(bytes.subarray(starts[i], ends[i])));
      if (outcome === undefined) continue;
      responses += 1;
      if (outcome.result === "error") continue;
      const { archive, mementos } = outcome;
      if (outcome.uri !== uri) {
        uri = outcome.uri;
        key = surt(uri);
      }
      learner.observe({ archive, surt: key, mementos, isOutside: true });
    }
  }
  return responses;
}
