import { MAX_LINE_BYTES, wholeLines } from "../bytes/lines.ts";
import {
  checkSize,
  headerText,
  type MapSize,
  refuseNoRecords,
  SizedHead,
  UkvsHeaders,
} from "../ukvs/header.ts";
import { HeadReader, wholeMapHeaders } from "../ukvs/head.ts";
import { MapLines, type RowSink } from "./map-lines.ts";
import { openCompactor, type RowCompactor } from "./tree-order.ts";
import type { SpillStore } from "../files/scratch.ts";
import { type RollUpPolicy, type WeightOptions, WeightPolicy } from "./weight-policy.ts";
import { interruptibleChunks } from "../interruption.ts";

export interface CompactOptions {
  /** Named in errors. */
  readonly source?: string | undefined;
  /** Stores pending output that does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** Maximum pending output in memory if there is a spill store; 16 MiB by default. */
  readonly memoryBytes?: number | undefined;
  /** When aborted, compaction fails with MM_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
  /** Called at the end. */
  readonly onEnd?: ((summary: CompactSummary) => void) | undefined;
}

export type CompactMapOptions = CompactOptions & WeightOptions;

export interface CompactSummary {
  readonly rowsRead: number;
  readonly rollUps: number;
}

/**
 * Compacts a map by rolling up sub-trees with many children: the paper's policy.
 *
 * The map must be sorted by bytes; it is read once, and the result is a stream. Holds the open nodes of
 * the key tree and pending output. Every URI present in the map is present in the result.
 *
 * The result has no `!size` unless it is empty: the size is not known before the rows.
 *
 * Rows are written in canonical form. A map of the authors' tool that is not sorted in canonical spelling
 * is rejected as not sorted; run `merge` on it first.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
 *   MM_PAGE for one page of several; MM_CUT, MM_EMPTY
 */
export async function* compactMap(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CompactMapOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  let headers = new UkvsHeaders();
  const onHead = (ofMap: UkvsHeaders): void => {
    headers = ofMap;
  };
  let hasRows = false;
  for await (const rows of compactBy(new WeightPolicy(options), chunks, { ...options, onHead })) {
    if (!hasRows) yield headerText(headers);
    hasRows = true;
    yield rows;
  }
  // An empty map must state its size to show that it is not truncated.
  if (!hasRows) yield new SizedHead(headers).bytes({ bytes: 0, records: 0 });
}

/** As {@link compactMap}, by any policy; yields the rows, after passing the headers to `onHead`. */
export async function* compactBy(
  policy: RollUpPolicy,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CompactOptions & { readonly onHead?: (headers: UkvsHeaders) => Promise<void> | void },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { source = "map", spill, memoryBytes, signal, onHead, onEnd } = options;
  const written: Uint8Array[] = [];
  const write = (bytes: Uint8Array): void => void written.push(bytes.slice());
  let compactor: RowCompactor | undefined;
  const begin = async (headers: UkvsHeaders): Promise<RowSink> => {
    await onHead?.(headers);
    return (compactor = openCompactor(policy, write, {
      fields: headers.fields,
      spill,
      memoryBytes,
    }));
  };
  let rowsRead = 0;
  for await (const rows of feedRows(interruptibleChunks(chunks, signal), source, begin)) {
    rowsRead = rows;
    yield* written.splice(0);
  }
  compactor?.end();
  yield* written;
  onEnd?.({ rowsRead, rollUps: compactor?.rollUps ?? 0 });
}

/**
 * Reads a map and feeds its rows to the sink that `begin` returns for its headers. Yields the number of
 * rows read, after each block and at the end.
 *
 * @throws as MapLines; MM_BAD_HEADER, MM_LIMIT; MM_PAGE for one page of several; at the end MM_CUT for a
 *   map that is shorter than it states, MM_EMPTY for one that holds nothing
 */
export async function* feedRows(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  begin: (headers: UkvsHeaders) => RowSink | Promise<RowSink>,
): AsyncGenerator<number, void, undefined> {
  const reader = new HeadReader(source);
  let lines: MapLines | undefined;
  let [bytesRead, bodyOffset] = [0, 0];
  let size: MapSize | undefined;
  const finishHead = async (): Promise<MapLines> => {
    const head = reader.finish(0);
    ({ bodyOffset } = head);
    ({ size } = head.headers);
    const headers = wholeMapHeaders(head.headers, source);
    return new MapLines(await begin(headers), headers.fields, source, head.recordsLine);
  };
  const linesRead = (): number => reader.lines + (lines?.lines ?? 0);
  for await (const chunk of wholeLines(chunks, source, MAX_LINE_BYTES, linesRead)) {
    bytesRead += chunk.length;
    const from = lines === undefined ? reader.takeLines(chunk) : 0;
    if (from === chunk.length) continue;
    lines ??= await finishHead();
    lines.read(chunk.subarray(from));
    yield lines.rows;
  }
  lines ??= await finishHead();
  checkSize(size, { bytes: bytesRead - bodyOffset }, source);
  checkSize(size, { records: lines.rows }, source);
  if (lines.rows === 0) refuseNoRecords(size, source);
  yield lines.rows;
}
