import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hintsOf } from "../../aggregate/learn/hints.ts";
import { Learner, type LearnerOptions } from "../../aggregate/learn/learner.ts";
import { restoreSnapshot, snapshotOf } from "../../aggregate/learn/snapshot.ts";
import type { Archive } from "../../aggregate/route/archive.ts";
import { lineBatches, MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { isMementoMapError } from "../../errors.ts";
import { openInput } from "../../files/input-file.ts";
import { withOutput } from "../../files/output-file.ts";
import type { Log } from "../../http/log.ts";
import { MemgatorLog } from "../../input/memgator-log.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import type { Io } from "./io.ts";

/** What the settings say about learning. */
interface LearningValues {
  readonly recall?: number | undefined;
  readonly "learn-from": readonly string[];
  readonly learnt?: string | undefined;
  readonly state?: string | undefined;
}

/** A learner, and the file it is kept in. */
export interface KeptLearner {
  readonly learner: Learner;
  /** Saves what was learnt, and stops saving it every few minutes. */
  close(): Promise<void>;
}

const SAVE_EVERY_MS = 300_000;

/**
 * Makes a learner if the settings ask for one: with what it knew, and what old logs tell.
 *
 * What was learnt is saved every five minutes and at the end; a file is whole or as it was. One that
 * cannot be read is reported, and learning begins from nothing.
 *
 * @param isSaving whether this process saves what is learnt.
 * @throws MM_IO for a log that cannot be read.
 */
export async function openLearner(
  values: LearningValues,
  archives: readonly Archive[],
  io: Io,
  { log, isSaving, ...options }: LearnerOptions & { log: Log; isSaving: boolean },
): Promise<KeptLearner | undefined> {
  const { recall, state } = values;
  const path = values.learnt ?? (state === undefined ? undefined : join(state, "learnt.bin"));
  if (recall === undefined && values["learn-from"].length === 0 && values.learnt === undefined) {
    return undefined;
  }
  const learner = new Learner(archives.map(hintsOf), { ...options, recall });
  if (path !== undefined && existsSync(path)) await restore(learner, path, log);
  for (const file of values["learn-from"]) await learnFrom(learner, file, io);
  const save = async (): Promise<void> => {
    if (path === undefined || !isSaving) return;
    try {
      await withOutput(path, io, async (output) => output.write(snapshotOf(learner)));
    } catch (error) {
      log.event("error", "what was learnt is not saved", { reason: String(error) });
    }
  };
  const timer = setInterval(() => void save(), SAVE_EVERY_MS).unref();
  return {
    learner,
    async close() {
      clearInterval(timer);
      await save();
    },
  };
}

async function restore(learner: Learner, path: string, log: Log): Promise<void> {
  try {
    restoreSnapshot(learner, await readFile(path), path);
  } catch (error) {
    const reason = isMementoMapError(error) ? error.describe() : String(error);
    log.event("error", "what was learnt cannot be read; learning begins from nothing", { reason });
  }
}

/** Learns from the log of an aggregator, in which every archive was asked. */
async function learnFrom(learner: Learner, path: string, io: Io): Promise<void> {
  const input = await openInput(path, io, { signal: io.interrupt.signal });
  const decoder = new TextDecoder();
  const log = new MemgatorLog();
  let last = "";
  const limits = { source: input.name, maxLineBytes: MAX_LINE_BYTES };
  for await (const { bytes, starts, ends, count } of lineBatches(input.chunks, limits)) {
    for (let i = 0; i < count; i++) {
      const outcome = log.read(decoder.decode(bytes.subarray(starts[i], ends[i])));
      if (outcome === undefined || outcome.result === "error") continue;
      const { archive, uri, mementos } = outcome;
      const key = surt(uri);
      if (uri !== last) learner.policy.begin();
      last = uri;
      learner.apply({ archive, surt: key, mementos, isOutside: true });
    }
  }
}
