import { type FileHandle, open, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { HeadLines } from "../../compact/compact-map.ts";
import { compactMap, newHeadLines, readHeaders } from "../../compact/compact-map.ts";
import type { WeightOptions } from "../../compact/weight-policy.ts";
import { isMementoMapError } from "../../errors.ts";
import { UkvsHeaders } from "../../ukvs/header.ts";
import { checkSize, refuseNoRecords } from "../../ukvs/map-size.ts";
import { recognizeCompression } from "../decompress.ts";
import type { InputStreams } from "../input-file.ts";
import { openInput } from "../input-file.ts";
import type { Interrupt } from "../interrupt.ts";
import { ioError } from "../io-error.ts";
import type { MapOutput } from "../map-output.ts";
import { requiredFile } from "../package-file.ts";
import { ScratchSpill } from "../scratch-spill.ts";
import { withTempDir } from "../temp-dir.ts";
import { Thread } from "../threads/thread.ts";
import { findCuts } from "./cuts.ts";
import type { CompactResult, CompactTask } from "./job.ts";
import { compactPart } from "./job.ts";
import { checkSignal } from "../../interruption.ts";

export interface CompactFileOptions {
  readonly weights?: WeightOptions | undefined;
  /** By default as many as there are cores, and the map is large enough for. */
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Told how many stored bytes were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface CompactFileSummary {
  readonly rowsRead: number;
  /** Rows of the new map. */
  readonly rows: number;
  readonly rollUps: number;
  /** Bytes of the new map, before compression. */
  readonly bytes: number;
}

/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 48 * 2 ** 20;
const HEAD_BYTES = 1 << 16;

/**
 * Compacts a map file by weights, on several threads where it is a plain file and large enough.
 *
 * The parts are cut where no roll-up can reach across, so the bytes are the same for any number of
 * threads. Reads the map once; memory does not grow with it.
 *
 * @throws as compactMap, and MM_IO, MM_BAD_INPUT, MM_INTERRUPTED
 */
export async function compactFile(
  path: string,
  output: MapOutput,
  options: CompactFileOptions,
): Promise<CompactFileSummary> {
  return withTempDir({ parent: options.scratch, interrupt: options.interrupt }, async (scratch) => {
    const plain = path === "-" ? undefined : await openPlain(path);
    if (plain === undefined) return compactStream(path, output, scratch, options);
    try {
      return await compactPlain(path, plain, output, scratch, options);
    } finally {
      await plain.file.close();
    }
  });
}

/** A file, and what it had when it was opened: if it becomes shorter, that must not go unseen. */
interface PlainFile {
  readonly file: FileHandle;
  readonly size: number;
}

/** Opens a regular, uncompressed file; undefined for others. */
async function openPlain(path: string): Promise<PlainFile | undefined> {
  try {
    const file = await open(path, "r");
    const stats = await file.stat();
    const { buffer, bytesRead } = stats.isFile()
      ? await file.read(Buffer.alloc(4), 0, 4, 0)
      : { buffer: Buffer.alloc(0), bytesRead: 0 };
    if (stats.isFile() && recognizeCompression(buffer.subarray(0, bytesRead)) === undefined) {
      return { file, size: stats.size };
    }
    await file.close();
    return undefined;
  } catch (error) {
    throw ioError(error, path);
  }
}

async function compactStream(
  path: string,
  output: MapOutput,
  scratch: string,
  options: CompactFileOptions,
): Promise<CompactFileSummary> {
  const input = await openInput(path, options.streams, {
    signal: options.interrupt?.signal,
    onRead: options.onRead,
  });
  const spill = new ScratchSpill(join(scratch, "undecided"));
  let [rowsRead, rollUps] = [0, 0];
  try {
    const compacted = compactMap(input.chunks, {
      ...options.weights,
      source: input.name,
      spill,
      onHead: (headers) => output.writeHead(headers),
      onEnd: (summary) => {
        ({ rowsRead, rollUps } = summary);
      },
    });
    for await (const block of compacted) await output.write(block);
  } finally {
    spill.close();
  }
  return { rowsRead, rollUps, ...written(output) };
}

/** What is in the output. */
function written({ size, headBytes }: MapOutput): {
  readonly rows: number;
  readonly bytes: number;
} {
  return { rows: size.records, bytes: headBytes + size.bytes };
}

async function compactPlain(
  path: string,
  { file, size }: PlainFile,
  output: MapOutput,
  scratch: string,
  options: CompactFileOptions,
): Promise<CompactFileSummary> {
  const { headers, lines, offset, bodyOffset } = await readFileHeaders(file, path);
  checkSize(headers.size, { bytes: size - bodyOffset }, path);
  const worthwhile = Math.ceil(size / BYTES_WORTH_A_THREAD);
  const wanted = options.threads ?? Math.min(availableParallelism(), worthwhile);
  const cuts = findCuts(file, offset, size, wanted);
  const tasks = cuts.slice(1).map((end, i): CompactTask => ({
    path,
    start: cuts[i],
    end,
    fields: headers.fields,
    weights: options.weights ?? {},
    target: join(scratch, `part-${i}.rows`),
  }));
  const runner = tasks.length > 1 ? new Threads(tasks.length) : new ThisThread();
  try {
    const results = tasks.map((task, i) => runner.run(task, i));
    for (const result of results) result.catch(() => undefined); // met below, in order
    let [rowsRead, rollUps, linesBefore] = [0, 0, lines];
    for (const [i, task] of tasks.entries()) {
      const part = await results[i].catch((error: unknown) => {
        throw withLinesBefore(error, linesBefore);
      });
      checkSignal(options.interrupt?.signal);
      options.onRead?.(task.end - task.start);
      if (i === 0) await output.writeHead(headers);
      rowsRead += part.rows;
      rollUps += part.rollUps;
      linesBefore += part.lines;
      await output.copy(task.target, part.rowsWritten);
      await rm(task.target);
    }
    checkSize(headers.size, { bytes: size - bodyOffset, records: rowsRead }, path);
    if (rowsRead === 0) refuseNoRecords(headers.size, path);
    return { rowsRead, rollUps, ...written(output) };
  } finally {
    await runner.end();
  }
}

async function readFileHeaders(
  file: FileHandle,
  source: string,
): Promise<{ headers: UkvsHeaders; lines: number; offset: number; bodyOffset: number }> {
  let size = HEAD_BYTES;
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    const head = buffer.subarray(0, bytesRead);
    const read = newHeadLines();
    const offset =
      bytesRead < size ? readHeaders(head, read, source) : wholeHeaders(head, read, source);
    if (offset !== undefined) {
      const { lines, bytes: bodyOffset } = read;
      return { headers: new UkvsHeaders(read.headers), lines, offset, bodyOffset };
    }
    size *= 4;
  }
}

/** As readHeaders, or undefined if the headers may go on behind what was read. */
function wholeHeaders(head: Buffer, read: HeadLines, source: string): number | undefined {
  const lastLine = head.lastIndexOf(10) + 1;
  const offset = readHeaders(head.subarray(0, lastLine), read, source);
  return offset < lastLine ? offset : undefined;
}

function withLinesBefore(error: unknown, lines: number): unknown {
  if (!isMementoMapError(error) || error.position?.line === undefined) return error;
  return error.at({ source: error.position.source, line: error.position.line + lines });
}

interface Runner {
  run(task: CompactTask, index: number): Promise<CompactResult>;
  end(): Promise<void>;
}

class ThisThread implements Runner {
  async run(task: CompactTask): Promise<CompactResult> {
    return compactPart(task);
  }

  async end(): Promise<void> {
    // Nothing to end.
  }
}

class Threads implements Runner {
  readonly #threads: readonly Thread[];

  constructor(count: number) {
    const module = requiredFile("dist/node/compact/worker.js");
    this.#threads = Array.from({ length: count }, () => new Thread(module, undefined));
  }

  run(task: CompactTask, index: number): Promise<CompactResult> {
    // The worker answers with what compactPart gives.
    return this.#threads[index].ask(task) as Promise<CompactResult>;
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
