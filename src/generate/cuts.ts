import { compareBytes, LF, SPACE } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import type { RunFile } from "./run-file.ts";
import { type MergeOptions, mergeStored } from "./stored-runs.ts";

/** Keys sampled per range; fewer would make the sizes of ranges uneven. */
const SAMPLE_PER_RANGE = 32;

/**
 * Chooses cuts that divide the keys of runs into ranges of about equal size; into fewer if there are too
 * few keys.
 *
 * Blocks of runs are of one size, so their first keys are a fair sample; the runs themselves are read
 * only where they have few blocks.
 */
export async function chooseCuts(
  runs: readonly RunFile[],
  ranges: number,
  options: MergeOptions,
): Promise<Uint8Array[]> {
  const wanted = ranges * SAMPLE_PER_RANGE;
  const blocks = runs.flatMap(({ index }) => index.blocks.map(({ firstKey }) => firstKey));
  const sample = (blocks.length < wanted ? await sampleOf(runs, wanted, options) : blocks)
    .map((key) => surtOf(key))
    .filter((key) => isText(key))
    .sort(compareBytes);
  const cuts: Uint8Array[] = [];
  for (let range = 1; range < ranges; range++) {
    const cut = sample[Math.floor((range * sample.length) / ranges)];
    if (cut !== undefined && compareBytes(cuts.at(-1) ?? sample[0], cut) < 0) cuts.push(cut);
  }
  return cuts;
}

/** Samples the keys of all runs at regular intervals. */
async function sampleOf(
  runs: readonly RunFile[],
  wanted: number,
  options: MergeOptions,
): Promise<Uint8Array[]> {
  const keys = runs.reduce((sum, { index }) => sum + index.keys, 0);
  const step = Math.max(1, Math.floor(keys / wanted));
  const sample: Uint8Array[] = [];
  let i = 0;
  await mergeStored(runs, options, (key, length) => {
    if (i++ % step === 0) sample.push(key.slice(0, length));
  });
  return sample;
}

/** Removes everything after the SURT, so that a cut never separates the rows or originals of a key. */
function surtOf(key: Uint8Array): Uint8Array {
  const end = key.findIndex((byte) => byte <= SPACE);
  return end === -1 ? key : key.subarray(0, end);
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function isText(key: Uint8Array): boolean {
  try {
    return decoder.decode(key).length > 0;
  } catch {
    return false;
  }
}

/** Cuts as the lines of a file. */
export function formatCuts(cuts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(cuts.flatMap((cut) => [cut, Uint8Array.of(LF)]));
}

/**
 * Reads the lines of a file as cuts.
 *
 * @throws MM_BAD_LINE, MM_NOT_SORTED, with file and line
 */
export function parseCuts(bytes: Uint8Array, source: string): Uint8Array[] {
  const cuts: Uint8Array[] = [];
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const feed = bytes.indexOf(LF, at);
    const end = feed === -1 ? bytes.length : feed;
    const cut = bytes.slice(at, end);
    const position = { source, line };
    if (!isText(cut) || cut.some((byte) => byte <= SPACE)) {
      throw new MementoMapError(
        "MM_BAD_LINE",
        `not a key to cut at: ${quote(new TextDecoder().decode(cut))}; a line has one SURT`,
        { position },
      );
    }
    const last = cuts.at(-1);
    if (last !== undefined && compareBytes(last, cut) >= 0) {
      const [text, before] = [cut, last].map((key) => quote(decoder.decode(key)));
      throw new MementoMapError(
        "MM_NOT_SORTED",
        `the cut ${text} comes after ${before}; sort cuts with LC_ALL=C sort -u`,
        { position },
      );
    }
    cuts.push(cut);
    at = end + 1;
  }
  return cuts;
}
