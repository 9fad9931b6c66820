import { LF } from "../../bytes/bytes.ts";
import { peek } from "../../bytes/peek.ts";
import { MAX_LINE_BYTES, wholeLines } from "../../bytes/lines.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { containerRows } from "../../input/container-rows.ts";
import type { DamageLog } from "../../bytes/damage.ts";
import {
  type DetectedFormat,
  detectFormat,
  type InputFormat,
  type KeyTrust,
  trustedFormat,
} from "../../input/detect.ts";
import type { LineReader } from "../../input/index-input.ts";
import { interruptibleChunks } from "../../interruption.ts";

/** An index to read: its bytes, decompressed, and a name for errors. */
export interface IndexSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface SourceOptions {
  readonly format?: InputFormat | undefined;
  /** Whether to trust key columns; by default only where a sample agrees with the URIs. */
  readonly keys?: KeyTrust | undefined;
  /** Which archive to take from logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  /** Ends the work with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** A source whose format has been made out. */
export interface OpenSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly format: DetectedFormat;
}

const HEAD_BYTES = 1 << 16;

/**
 * Makes out the format of a source. Holds its first 64 KiB.
 *
 * @throws MM_BAD_INPUT when no format fits.
 */
export async function openSource(source: IndexSource, options: SourceOptions): Promise<OpenSource> {
  const { head, chunks } = await peek(
    interruptibleChunks(source.chunks, options.signal),
    HEAD_BYTES,
  );
  const format = detectFormat(head, options.format ?? "auto", source.name);
  const sample = head.length < HEAD_BYTES ? head : head.subarray(0, head.lastIndexOf(LF) + 1);
  const name = source.name;
  return { name, chunks, format: trustedFormat(format, sample, options.keys ?? "auto") };
}

/**
 * Hands all lines of a source, or the rows of what it contains, to a reader. Holds one chunk and the
 * longest line.
 *
 * @param damage where to note records that are broken, and to go on with the next.
 * @throws MM_BAD_LINE and MM_LIMIT with source and line; MM_BAD_INPUT
 */
export async function readSource(
  { name, chunks, format }: OpenSource,
  reader: LineReader,
  { maxLineBytes = MAX_LINE_BYTES, archive }: SourceOptions,
  damage?: DamageLog,
): Promise<void> {
  reader.startPart(format);
  const rows = containerRows(chunks, format, { source: name, maxLineBytes, archive, damage });
  const linesRead = (): number => reader.partLines;
  for await (const lines of wholeLines(rows, name, maxLineBytes, linesRead)) {
    const fault = reader.readLines(lines, 0, lines.length);
    if (fault === undefined) continue;
    throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
      position: { source: name, line: fault.linesBefore + 1 },
    });
  }
}
