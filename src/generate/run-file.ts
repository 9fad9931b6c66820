import { isRun, joinBytes, RUN_MAGIC } from "../bytes/bytes.ts";
import { type ErrorCode, MementoMapError } from "../errors.ts";
import type { FileSource } from "../files/input-file.ts";
import type { Output } from "../files/output-file.ts";
import { type MapSourceOptions, withMapSources } from "../lookup/map-sources.ts";
import { isJsonObject } from "../ukvs/header.ts";
import type { IndexCounts } from "./index-counts.ts";
import type { MapDescription, RowKeyOptions } from "./map-rows.ts";
import type { RunIndex } from "./runs.ts";
import { type FileRun, type MergeOptions, mergeToRun, type StoredRun } from "./stored-runs.ts";

/*
 * The file of a run, which one process writes and others merge:
 *
 *     file   = magic run footer tail
 *     magic  = 89 4D 4D 52 0D 0A 1A 0A
 *     run    = see runs.ts
 *     footer = JSON: a RunFooter, and where blocks begin
 *     tail   = length magic              of the footer, 8 bytes, the lowest first
 *
 * The footer is at the end because it is known last; a truncated file has no tail.
 */

const MAGIC = RUN_MAGIC;
const TAIL_BYTES = 16;
const VERSION = 1;

/** How the keys of a run are made; only runs with equal settings are merged. */
export interface RunKeys extends RowKeyOptions {
  readonly distinct: boolean;
  readonly queries: boolean;
}

/** The footer of a run. */
export interface RunFooter {
  readonly keys: RunKeys;
  /** The description of a map of the inputs. */
  readonly description: MapDescription;
  readonly counts: IndexCounts;
}

/** A run in a file, with its footer. */
export interface RunFile extends FileRun, RunFooter {
  /** Named in errors. */
  readonly name: string;
}

/** Merges runs and writes them as one file of a run. */
export async function writeRunFile(
  output: Output,
  runs: readonly StoredRun[],
  footer: RunFooter,
  options: MergeOptions,
): Promise<RunIndex> {
  await output.write(MAGIC);
  const index = await mergeToRun(runs, options, (chunk) => output.write(chunk));
  await output.write(encodeFooter(footer, index));
  return index;
}

function encodeFooter(footer: RunFooter, { blocks, byteLength, keys }: RunIndex): Uint8Array {
  const index = blocks.map(({ offset, firstKey, before }) => [
    offset,
    Buffer.from(firstKey).toString("base64"),
    before,
  ]);
  const text = Buffer.from(
    JSON.stringify({ version: VERSION, ...footer, run: { byteLength, keys, blocks: index } }),
  );
  const length = Buffer.alloc(TAIL_BYTES - MAGIC.length);
  length.writeBigUInt64LE(BigInt(text.length));
  return joinBytes([text, length, MAGIC]);
}

async function readFooter(source: FileSource): Promise<RunFile> {
  const { name, size, path } = source;
  const fault = (code: ErrorCode, message: string): MementoMapError =>
    new MementoMapError(code, message, { position: { source: name } });
  if (!isRun(await source.read(0, MAGIC.length))) {
    throw fault("MM_BAD_INPUT", "is not a run; partition makes runs of indexes");
  }
  const tail = Buffer.from(await source.read(Math.max(0, size - TAIL_BYTES), TAIL_BYTES));
  const length = tail.length < TAIL_BYTES ? 0 : Number(tail.readBigUInt64LE());
  const start = size - TAIL_BYTES - length;
  if (!isRun(tail.subarray(TAIL_BYTES - MAGIC.length)) || start < MAGIC.length) {
    throw fault("MM_CUT", "the run is cut short: its end is missing; create it again");
  }
  const text = Buffer.from(await source.read(start, length)).toString();
  const footer: unknown = JSON.parse(text);
  const version = isJsonObject(footer) ? footer["version"] : undefined;
  if (version !== VERSION) {
    const versions = `version ${String(version)}, and this program reads ${VERSION}`;
    throw fault("MM_BAD_INPUT", `the run is of ${versions}; make it again`);
  }
  // What encodeFooter wrote.
  const { run, ...said } = footer as RunFooter & {
    run: { byteLength: number; keys: number; blocks: readonly [number, string, number][] };
  };
  const blocks = run.blocks.map(([offset, key, before]) => ({
    offset,
    firstKey: new Uint8Array(Buffer.from(key, "base64")),
    before,
  }));
  const index = { byteLength: run.byteLength, keys: run.keys, blocks };
  return { ...said, name, path, start: MAGIC.length, index };
}

/**
 * Reads the footers of run files, which may be compressed, and calls `use` with the runs.
 *
 * @throws MM_BAD_INPUT if a file is not a run, MM_CUT if it is truncated, MM_IO
 */
export function withRunFiles<T>(
  paths: readonly string[],
  options: MapSourceOptions,
  use: (runs: readonly RunFile[]) => Promise<T>,
): Promise<T> {
  return withMapSources(paths, options, async (sources) => {
    const runs: RunFile[] = [];
    for (const source of sources) runs.push(await readFooter(source));
    return use(runs);
  });
}
