import { type FileHandle, open, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { formatWeights, type WeightOptions } from "../weight-policy.ts";
import type { Edges } from "../edges.ts";
import { type PartMark, partMark, withPartMark } from "../../lookup/part-mark.ts";
import { ioError, isMementoMapError, MementoMapError } from "../../../errors.ts";
import { CLOSE_PAREN, COMMA, compareRanges, LF } from "../../../bytes/bytes.ts";
import {
  type MapHead,
  mapHeadOf,
  wholeMapHeaders,
  withoutPageMark,
} from "../../lookup/map-head.ts";
import { checkSize, refuseNoRecords, type UkvsHeaders } from "../../../ukvs/header.ts";
import { cutAfter, type FileSource, type InputStreams } from "../../../files/input-file.ts";
import { checkSignal, type Interrupt } from "../../../interruption.ts";
import { type MapOutput, withCanonicalMap } from "../../output/map-output.ts";
import { withMapSources } from "../../lookup/map-sources.ts";
import { requiredFile } from "../../../files/package-file.ts";
import { withTempDir } from "../../../files/scratch.ts";
import { Thread } from "../../../threads/thread.ts";
import { compactPart, type CompactResult, type CompactTask } from "./compact-part.ts";

export interface CompactFileOptions {
  readonly weights?: WeightOptions | undefined;
  /** What a plan has chosen to roll up, in place of weights; on one thread. */
  readonly plan?: ChosenNodes | undefined;
  /** By default as many as there are cores, and the map is large enough for. */
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Told how many stored bytes were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** The nodes that a plan rolls up. */
export interface ChosenNodes {
  readonly chosen: readonly number[];
  /** Names the plan. */
  readonly digest: string;
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
 * Compacts a map file by weights, on several threads where it is large enough.
 *
 * The parts are cut where no roll-up can reach across, so the bytes are the same for any number of
 * threads. A compressed map, and one with keys that belong elsewhere as they are spelled now, go
 * through a scratch file. Memory does not grow with the map.
 *
 * @throws as compactMap, and MM_IO, MM_BAD_INPUT, MM_INTERRUPTED
 */
export async function compactFile(
  path: string,
  output: MapOutput,
  options: CompactFileOptions,
): Promise<CompactFileSummary> {
  const { streams, interrupt, scratch: tmp } = options;
  return withMapSources([path], { io: { ...streams, interrupt }, tmp }, ([source]) =>
    withTempDir({ parent: tmp, interrupt }, async (scratch) =>
      writeParts(await compactReordered(source, scratch, options), output, options),
    ),
  );
}

/** A map whose parts are compacted, each into a file of its own. */
interface CompactedParts {
  readonly headers: UkvsHeaders;
  readonly tasks: readonly CompactTask[];
  readonly results: readonly CompactResult[];
}

/** Compacts a map as it is, or else with its keys in the order that they have as spelled now. */
async function compactReordered(
  source: FileSource,
  scratch: string,
  options: CompactFileOptions,
): Promise<CompactedParts> {
  try {
    return await compactParts(source, scratch, options);
  } catch (error) {
    if (!isMementoMapError(error) || error.code !== "MM_NOT_SORTED") throw error;
  }
  refusePart((await headOf(source)).headers, source.name);
  const { interrupt } = options;
  return withCanonicalMap(source, scratch, { signal: interrupt?.signal }, (canonical) =>
    compactParts(canonical, scratch, options),
  );
}

async function compactParts(
  source: FileSource,
  scratch: string,
  options: CompactFileOptions,
): Promise<CompactedParts> {
  const { path, name, size } = source;
  const { headers: read, recordsLine, recordsOffset, bodyOffset } = await headOf(source);
  const part = partMark(read, name);
  const headers = part === undefined ? wholeMapHeaders(read, name) : withoutPageMark(read);
  const edges = part === undefined ? undefined : edgesOf(part);
  checkSize(read.size, { bytes: size - bodyOffset }, name);
  const worthwhile = Math.ceil(size / BYTES_WORTH_A_THREAD);
  const { plan } = options;
  const threads = options.threads ?? Math.min(availableParallelism(), worthwhile);
  // A plan may roll up anything: there is no safe place to cut.
  const wanted = plan === undefined ? threads : 1;
  const cuts = wanted > 1 ? await cutsOf(path, recordsOffset, size, wanted) : [recordsOffset, size];
  const tasks = cuts.slice(1).map((end, i): CompactTask => ({
    path,
    source: name,
    start: cuts[i],
    end,
    fields: headers.fields,
    weights: options.weights ?? {},
    chosen: plan?.chosen,
    edges,
    target: join(scratch, `part-${i}.rows`),
  }));
  const runner = tasks.length > 1 ? new Threads(tasks.length) : new ThisThread();
  try {
    const running = tasks.map((task, i) => runner.run(task, i));
    for (const result of running) result.catch(() => undefined); // met below, in order
    const results: CompactResult[] = [];
    let linesBefore = recordsLine - 1;
    for (const [i, task] of tasks.entries()) {
      const result = await running[i].catch((error: unknown) => {
        throw withLinesBefore(error, linesBefore);
      });
      checkSignal(options.interrupt?.signal);
      options.onRead?.(task.end - task.start);
      linesBefore += result.lines;
      results.push(result);
    }
    if (tasks.length > 1 && results.some(({ hasRespelled }) => hasRespelled)) {
      throw new MementoMapError("MM_NOT_SORTED", "a key may belong before the part it was in");
    }
    const records = sum(results, "rows");
    checkSize(read.size, { bytes: size - bodyOffset, records }, name);
    if (records === 0) refuseNoRecords(read.size, name);
    const compacted = plan === undefined ? formatWeights(options.weights) : { plan: plan.digest };
    const marked = part && withPartMark(headers, { ...part, compacted });
    return { headers: marked ?? headers, tasks, results };
  } finally {
    await runner.end();
  }
}

export function edgesOf({ from, to }: PartMark): Edges {
  return { from: bytesOf(from), to: bytesOf(to) };
}

function bytesOf(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : new TextEncoder().encode(text);
}

/** @throws MM_NOT_SORTED for a part: its keys might belong into another. */
function refusePart(headers: UkvsHeaders, source: string): void {
  if (partMark(headers, source) === undefined) return;
  throw new MementoMapError(
    "MM_NOT_SORTED",
    "keys of the part are not in order in their current spelling; combine the parts, and compact the map",
    { position: { source } },
  );
}

async function cutsOf(path: string, start: number, end: number, parts: number): Promise<number[]> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw ioError(error, path);
  });
  try {
    return findCuts(file, start, end, parts);
  } finally {
    await file.close();
  }
}

async function writeParts(
  { headers, tasks, results }: CompactedParts,
  output: MapOutput,
  { interrupt }: CompactFileOptions,
): Promise<CompactFileSummary> {
  await output.writeHead(headers);
  for (const [i, { target }] of tasks.entries()) {
    checkSignal(interrupt?.signal);
    await output.copy(target, results[i].rowsWritten);
    await rm(target);
  }
  const { size, headBytes } = output;
  return {
    rowsRead: sum(results, "rows"),
    rollUps: sum(results, "rollUps"),
    rows: size.records,
    bytes: headBytes + size.bytes,
  };
}

function sum(results: readonly CompactResult[], member: "rows" | "rollUps"): number {
  return results.reduce((total, result) => total + result[member], 0);
}

/** Reads the headers, however long they are. */
export async function headOf(file: FileSource): Promise<MapHead> {
  for (let size = HEAD_BYTES; ; size *= 4) {
    const start = await file.read(0, size);
    const lines = start.length < size ? start : start.subarray(0, start.lastIndexOf(LF) + 1);
    const head = mapHeadOf(lines, file.name);
    if (start.length < size || head.recordsOffset < lines.length) return head;
  }
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
    const module = requiredFile("dist/map/compact/run/compact-worker.js");
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

/**
 * Cuts the rows of a sorted map file, `[start, end)`, into about `parts` ranges of about equal
 * size that can be compacted on their own. Gives the offsets between them, `start` and `end`
 * included. Reads a little around each cut.
 */
export function findCuts({ fd }: FileHandle, start: number, end: number, parts: number): number[] {
  const cuts = [start];
  for (let part = 1; part < parts; part++) {
    const wanted = start + Math.floor(((end - start) * part) / parts);
    const cut = cutAfter(fd, Math.max(wanted, cuts.at(-1) ?? start), end, isGoodCut);
    if (cut === undefined) break;
    cuts.push(cut);
  }
  return [...cuts, end];
}

function isGoodCut(before: Uint8Array, key: Uint8Array): boolean {
  return isSafeCut(before, before.length, key, key.length);
}

/**
 * Whether a map can be cut between two rows so that both parts can be compacted on their own.
 *
 * Nothing is ever rolled up above the second label (`com,cnn`), so a cut is safe where no earlier
 * key can be in the same such sub-tree: where the key before does not even start with its text.
 */
export function isSafeCut(
  before: Uint8Array,
  beforeEnd: number,
  key: Uint8Array,
  keyEnd: number,
): boolean {
  const siteEnd = siteLength(key, keyEnd);
  const startsAlike =
    beforeEnd >= siteEnd && compareRanges(before, 0, siteEnd, key, 0, siteEnd) === 0;
  return !startsAlike && compareRanges(before, 0, beforeEnd, key, 0, keyEnd) < 0;
}

/**
 * The length of `com,cnn` in `com,cnn,www)/a`, of `localhost)` in `localhost)/a`.
 *
 * Also of `com,cnn` in `com,cnn+x)/a`: `*` and `+` sort between `)` and `,`, so that such a key
 * stands between `com,cnn)/` and `com,cnn,www)/`.
 */
export function siteLength(key: Uint8Array, end: number): number {
  let at = 0;
  while (at < end && key[at] !== COMMA && key[at] !== CLOSE_PAREN) at++;
  if (at === end) return end;
  if (key[at++] === CLOSE_PAREN) return at;
  while (at < end && (key[at] < CLOSE_PAREN || key[at] > COMMA)) at++;
  return at;
}
