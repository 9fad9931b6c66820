import { wholeLines } from "../../../bytes/lines.ts";
import { MementoMapError } from "../../../errors.ts";
import {
  checkSize,
  type Fields,
  type MapSize,
  refuseNoRecords,
  UkvsHeaders,
} from "../../../ukvs/header.ts";
import { wholeMapHeaders } from "../../lookup/page-range.ts";
import type { HeadLines } from "../compact-map.ts";
import { newHeadLines, readHeaders } from "../compact-map.ts";

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
