import { CR, LF, markLength } from "../../bytes/bytes.ts";
import { MAX_LINE_BYTES, wholeLines } from "../../bytes/lines.ts";
import {
  checkSize,
  type Fields,
  type Header,
  headerText,
  type MapSize,
  parseHeader,
  refuseForeignFile,
  refuseNoRecords,
  SizedHead,
  startsHeader,
  UkvsHeaders,
} from "../../ukvs/header.ts";
import { isMementoMapError, MementoMapError, type Position } from "../../errors.ts";
import { wholeMapHeaders } from "../lookup/map-head.ts";
import { skipBlanks } from "../../ukvs/record.ts";
import { Compactor } from "./compactor.ts";
import { MapLines, textOfLine } from "./map-lines.ts";
import type { SpillStore } from "../../files/scratch.ts";
import { type WeightOptions, WeightPolicy } from "./weight-policy.ts";
import { interruptibleChunks } from "../../interruption.ts";

export interface CompactMapOptions extends WeightOptions {
  /** Named in errors. */
  readonly source?: string | undefined;
  /** Takes undecided output that does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** How much undecided output to hold where there is a spill store; 16 MiB by default. */
  readonly memoryBytes?: number | undefined;
  /** Takes the headers of the new map, which are then not among the blocks. */
  readonly onHead?: ((headers: UkvsHeaders) => Promise<void>) | undefined;
  /** Ends the work with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to refuse a map that is not of the size it states, or holds nothing. Default true. */
  readonly checkSize?: boolean | undefined;
  /** Told about the run when it has ended. */
  readonly onEnd?: ((summary: CompactSummary) => void) | undefined;
}

export interface CompactSummary {
  readonly rowsRead: number;
  readonly rollUps: number;
}

/**
 * Makes a map smaller by rolling up sub-trees with many children: the paper's policy.
 *
 * Needs a map sorted by bytes, reads it once, and gives the smaller map out as it goes. Holds the
 * open nodes of the key tree and what is not decided yet. Every URI present in the map is present
 * in the result.
 *
 * The result has no `!size` unless it is empty: it would have to come before rows that are not known
 * yet. A caller that stores the result can write the headers with `onHead`.
 *
 * Rows are written in the form of writers. The rows of older maps whose keys are spelled otherwise now
 * may belong elsewhere: such a map is refused as not sorted, and must be merged alone first.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
 *   MM_PAGE for one page of several; MM_CUT, MM_EMPTY
 */
export async function* compactMap(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CompactMapOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = options.source ?? "map";
  const policy = new WeightPolicy(options);
  const written: Uint8Array[] = [];
  const head = newHeadLines();
  let lines: MapLines | undefined;
  let compactor: Compactor | undefined;
  let size: MapSize | undefined;
  /** Until they are given out. */
  let headers: UkvsHeaders | undefined;
  let bytesRead = 0;
  const blocks = function* given(): Generator<Uint8Array, void, undefined> {
    if (written.length === 0) return;
    if (headers !== undefined && options.onHead === undefined) yield headerText(headers);
    headers = undefined;
    yield* written.splice(0);
  };
  const begin = async (): Promise<MapLines> => {
    const all = new UkvsHeaders(head.headers);
    size = all.size;
    headers = wholeMapHeaders(all, source);
    await options.onHead?.(headers);
    compactor = new Compactor(policy, (bytes) => void written.push(bytes.slice()), {
      fields: all.fields,
      spill: options.spill,
      memoryBytes: options.memoryBytes,
    });
    return new MapLines(compactor, all.fields);
  };
  const linesRead = (): number => head.lines + (lines?.lines ?? 0);
  for await (const chunk of wholeLines(
    interruptibleChunks(chunks, options.signal),
    source,
    MAX_LINE_BYTES,
    linesRead,
  )) {
    bytesRead += chunk.length;
    let start = 0;
    if (lines === undefined) {
      start = readHeaders(chunk, head, source);
      if (start === chunk.length) continue;
      lines = await begin();
    }
    lines.read(chunk.subarray(start), { source, firstLine: head.lines + 1 });
    yield* blocks();
  }
  lines ??= await begin();
  if (options.checkSize !== false) {
    checkSize(size, { bytes: bytesRead - head.bytes, records: lines.rows }, source);
    if (lines.rows === 0) refuseNoRecords(size, source);
  }
  compactor?.end();
  yield* blocks();
  // A map without a record says that this is meant.
  if (headers !== undefined && options.onHead === undefined) {
    yield new SizedHead(headers).bytes({ bytes: 0, records: 0 });
  }
  options.onEnd?.({ rowsRead: lines.rows, rollUps: compactor?.rollUps ?? 0 });
}

/** The first lines of a map: its headers, with blank lines between them or not. */
export interface HeadLines {
  readonly headers: Header[];
  lines: number;
  /** Bytes of these lines. */
  lineBytes: number;
  /** Bytes up to the end of the last header. */
  bytes: number;
}

export function newHeadLines(): HeadLines {
  return { headers: [], lines: 0, lineBytes: 0, bytes: 0 };
}

/** Reads header lines and blank ones into `head`; returns where the first other line begins. */
export function readHeaders(chunk: Uint8Array, head: HeadLines, source: string): number {
  let at = head.lineBytes === 0 ? markLength(chunk) : 0;
  head.lineBytes += at;
  while (at < chunk.length) {
    const feed = chunk.indexOf(LF, at);
    const next = feed === -1 ? chunk.length : feed + 1;
    let end = feed === -1 ? chunk.length : feed;
    if (end > at && chunk[end - 1] === CR) end--;
    const isBlank = skipBlanks(chunk, at, end) === end;
    if (!isBlank && !startsHeader(chunk[at])) break;
    head.lines++;
    head.lineBytes += next - at;
    if (!isBlank) {
      head.headers.push(headerOf(chunk.subarray(at, end), { source, line: head.lines }));
      head.bytes = head.lineBytes;
    }
    at = next;
  }
  if (at < chunk.length) refuseForeignFile(chunk.subarray(at), head.headers, source);
  return at;
}

function headerOf(line: Uint8Array, position: Position): Header {
  try {
    return parseHeader(textOfLine(line));
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}

/** Whole lines of a map, behind its headers. */
export interface RowBlock {
  readonly headers: UkvsHeaders;
  /** What the map states to hold. */
  readonly size: MapSize | undefined;
  /** The lines of the map before its first row. */
  readonly headLines: number;
  readonly bytes: Uint8Array;
  readonly isFirst: boolean;
}

/**
 * Reads a map in blocks of whole rows; at least one, which may be empty. A block is valid until the
 * next is asked for.
 *
 * @throws MM_BAD_HEADER, MM_LIMIT; MM_PAGE for one page of several; MM_BAD_INPUT for a map with more key columns than the SURT; at the
 *   end MM_CUT for a map that is shorter than it states, MM_EMPTY for one that holds nothing
 */
export async function* rowBlocks(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<RowBlock, void, undefined> {
  const head = newHeadLines();
  let headers: UkvsHeaders | undefined;
  let size: MapSize | undefined;
  let bytesRead = 0;
  for await (const chunk of wholeLines(chunks, source)) {
    bytesRead += chunk.length;
    if (headers === undefined) {
      const from = readHeaders(chunk, head, source);
      if (from === chunk.length) continue;
      ({ headers, size } = checkedHeaders(head, source));
      yield { headers, size, headLines: head.lines, bytes: chunk.subarray(from), isFirst: true };
    } else {
      yield { headers, size, headLines: head.lines, bytes: chunk, isFirst: false };
    }
  }
  if (headers !== undefined) {
    checkSize(size, { bytes: bytesRead - head.bytes }, source);
    return;
  }
  ({ headers, size } = checkedHeaders(head, source));
  checkSize(size, { bytes: bytesRead - head.bytes }, source);
  refuseNoRecords(size, source);
  yield { headers, size, headLines: head.lines, bytes: new Uint8Array(0), isFirst: true };
}

function checkedHeaders(head: HeadLines, source: string): Pick<RowBlock, "headers" | "size"> {
  const read = new UkvsHeaders(head.headers);
  const headers = wholeMapHeaders(read, source);
  const { keys } = headers.fields;
  if (keys.length === 1) return { headers, size: read.size };
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `a budget needs a map with the key "surt" alone, not ${JSON.stringify(keys)}`,
    { position: { source } },
  );
}

/** Whether rows have a key and a frequency, and no other columns. */
export function hasPlainFields({ keys, values }: Fields): boolean {
  return (
    keys.length === 1 && keys[0] === "surt" && values.length === 1 && values[0] === "frequency"
  );
}
