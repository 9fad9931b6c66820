import { withoutMark } from "../bytes/peek.ts";
import { arcRows } from "./arc.ts";
import { cdxJsonRows } from "./cdx-json.ts";
import type { DamageLog } from "../bytes/damage.ts";
import type { DetectedFormat } from "./detect.ts";
import { memgatorHoldings } from "./memgator-holdings.ts";
import { timeMapRows } from "./timemap.ts";
import { unbroken } from "./unbroken.ts";
import { uncutLines } from "./uncut-lines.ts";
import { warcRows } from "./warc.ts";

export interface ContainerOptions {
  /** Named in errors. */
  readonly source: string;
  readonly maxLineBytes: number;
  /** Which archive to take from inputs that tell of several: logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  /** Set to pass over what is damaged, and to note it here. */
  readonly damage?: DamageLog | undefined;
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
  const { source, damage } = options;
  const { container } = format;
  if (container === "warc") return warcRows(chunks, source, damage);
  if (container === "arc") return arcRows(chunks, source, damage);
  if (damage === undefined) return textRows(chunks, format, options);
  const isOfLines = container === undefined || container === "json-lines";
  const sound = isOfLines
    ? uncutLines(chunks, { ...options, damage })
    : unbroken(chunks, source, damage);
  return textRows(sound, format, options);
}

function textRows(
  chunks: AsyncIterable<Uint8Array>,
  { container }: DetectedFormat,
  options: ContainerOptions,
): AsyncIterable<Uint8Array> {
  const text = withoutMark(chunks);
  if (container === "timemap") return timeMapRows(text, options);
  if (container === "memgator-log") return memgatorHoldings(text, options);
  if (container === undefined) return text;
  return cdxJsonRows(text, { ...options, isArray: container === "json-array" });
}
