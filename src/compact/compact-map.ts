import { MAX_LINE_BYTES, wholeLines } from "../bytes/lines.ts";
import {
  checkSize,
  headerText,
  type MapSize,
  refuseNoRecords,
  SizedHead,
  type UkvsHeaders,
} from "../ukvs/header.ts";
import { HeadReader, wholeMapHeaders } from "../ukvs/head.ts";
import { MapLines } from "./map-lines.ts";
import { openCompactor, type RowCompactor } from "./tree-order.ts";
import type { SpillStore } from "../files/scratch.ts";
import { type RollUpPolicy, type WeightOptions, WeightPolicy } from "./weight-policy.ts";
import { interruptibleChunks } from "../interruption.ts";

export interface CompactOptions {
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

export type CompactMapOptions = CompactOptions & WeightOptions;

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
export function compactMap(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CompactMapOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  return compactBy(new WeightPolicy(options), chunks, options);
}

/** As {@link compactMap}, by any policy. */
export async function* compactBy(
  policy: RollUpPolicy,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CompactOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { source = "map", onHead } = options;
  const written: Uint8Array[] = [];
  let map: RowBlock | undefined;
  let lines: MapLines | undefined;
  let compactor: RowCompactor | undefined;
  let hasHead = onHead !== undefined;
  const blocks = function* given(): Generator<Uint8Array, void, undefined> {
    if (written.length === 0) return;
    if (map !== undefined && !hasHead) yield headerText(map.headers);
    hasHead = true;
    yield* written.splice(0);
  };
  const read = rowBlocks(interruptibleChunks(chunks, options.signal), source, {
    checkSize: options.checkSize,
    rowLines: () => lines?.lines ?? 0,
  });
  for await (const block of read) {
    if (map === undefined) {
      map = block;
      await onHead?.(map.headers);
      const { fields } = map.headers;
      const { spill, memoryBytes } = options;
      const write = (bytes: Uint8Array): void => void written.push(bytes.slice());
      compactor = openCompactor(policy, write, { fields, spill, memoryBytes });
      lines = new MapLines(compactor, fields);
    }
    lines?.read(block.bytes, { source, firstLine: block.firstLine });
    yield* blocks();
  }
  const rowsRead = lines?.rows ?? 0;
  if (options.checkSize !== false) {
    checkSize(map?.size, { records: rowsRead }, source);
    if (rowsRead === 0) refuseNoRecords(map?.size, source);
  }
  compactor?.end();
  yield* blocks();
  // A map without a record says that this is meant.
  if (map !== undefined && !hasHead) {
    yield new SizedHead(map.headers).bytes({ bytes: 0, records: 0 });
  }
  options.onEnd?.({ rowsRead, rollUps: compactor?.rollUps ?? 0 });
}

/** Whole lines of a map, behind its headers. */
export interface RowBlock {
  readonly headers: UkvsHeaders;
  /** What the map states to hold. */
  readonly size: MapSize | undefined;
  /** The number of the line that the first row of the map is in. */
  readonly firstLine: number;
  readonly bytes: Uint8Array;
}

export interface RowBlockOptions {
  /** Whether to refuse a map that is not of the size it states, or holds nothing. Default true. */
  readonly checkSize?: boolean | undefined;
  /** Lines of blocks that were read so far, to name the line in errors. */
  readonly rowLines?: () => number;
}

/**
 * Reads a map in blocks of whole rows; at least one, which may be empty. A block is valid until the
 * next is asked for.
 *
 * @throws MM_BAD_HEADER, MM_LIMIT; MM_PAGE for one page of several; at the end MM_CUT for a map that is
 *   shorter than it states, MM_EMPTY for one that holds nothing
 */
export async function* rowBlocks(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  options: RowBlockOptions = {},
): AsyncGenerator<RowBlock, void, undefined> {
  const reader = new HeadReader(source);
  let map: Omit<RowBlock, "bytes"> | undefined;
  let [bytesRead, bodyOffset] = [0, 0];
  const begin = (): Omit<RowBlock, "bytes"> => {
    const head = reader.finish(0);
    ({ bodyOffset } = head);
    const headers = wholeMapHeaders(head.headers, source);
    return { headers, size: head.headers.size, firstLine: head.recordsLine };
  };
  const linesRead = (): number => reader.lines + (options.rowLines?.() ?? 0);
  for await (const chunk of wholeLines(chunks, source, MAX_LINE_BYTES, linesRead)) {
    bytesRead += chunk.length;
    const from = map === undefined ? reader.takeLines(chunk) : 0;
    if (from === chunk.length) continue;
    map ??= begin();
    yield { ...map, bytes: chunk.subarray(from) };
  }
  const hasRows = map !== undefined;
  map ??= begin();
  if (options.checkSize !== false) {
    checkSize(map.size, { bytes: bytesRead - bodyOffset }, source);
    if (!hasRows) refuseNoRecords(map.size, source);
  }
  if (!hasRows) yield { ...map, bytes: new Uint8Array(0) };
}
