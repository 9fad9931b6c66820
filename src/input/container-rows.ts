import { withoutMark } from "../bytes/byte-order-mark.ts";
import { arcRows } from "./arc.ts";
import { cdxJsonRows } from "./cdx-json.ts";
import type { DetectedFormat } from "./detect.ts";
import { memgatorHoldings } from "./memgator-holdings.ts";
import { timeMapRows } from "./timemap.ts";
import { warcRows } from "./warc.ts";

export interface ContainerOptions {
  /** Named in errors. */
  readonly source: string;
  readonly maxLineBytes: number;
  /** Which archive to take from inputs that tell of several: logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
}

/**
 * The lines of an input, decompressed: as they are, or made from what a container such as a WARC
 * file holds. Chunks need not end where lines do.
 */
export function containerRows(
  chunks: AsyncIterable<Uint8Array>,
  format: DetectedFormat,
  options: ContainerOptions,
): AsyncIterable<Uint8Array> {
  switch (format.container) {
    case undefined:
      return withoutMark(chunks);
    case "warc":
      return warcRows(chunks, options.source);
    case "arc":
      return arcRows(chunks, options.source);
    case "timemap":
      return timeMapRows(withoutMark(chunks), options);
    case "memgator-log":
      return memgatorHoldings(withoutMark(chunks), options);
    case "json-array":
    case "json-lines":
      return cdxJsonRows(withoutMark(chunks), {
        ...options,
        isArray: format.container === "json-array",
      });
  }
}
