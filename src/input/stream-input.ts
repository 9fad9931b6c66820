import { LF } from "../bytes/bytes.ts";
import { containerRows } from "./container-rows.ts";
import type { DetectedFormat } from "./detect.ts";
import { detectFormat } from "./detect.ts";
import { trustedFormat } from "./key-check.ts";
import type { Part } from "./tasks.ts";
import { openInput } from "../files/input-file.ts";
import { HEAD_BYTES, trustIn } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import { lineBlocks } from "./line-blocks.ts";
import { peekHead } from "./peek-head.ts";

/**
 * An input that can only be read once, from start to end: standard input, or a pipe.
 *
 * It is decompressed here and cut at line ends; at most two blocks are held.
 */
export async function openStream(path: string, options: OpenOptions): Promise<IndexInput> {
  const stored = { bytes: 0 };
  const input = await openInput(path, options.streams, {
    signal: options.signal,
    damage: options.damage,
    onRead: (bytes) => {
      stored.bytes += bytes;
    },
  });
  const { head, chunks } = await peekHead(input.chunks);
  const format = detectFormat(head, options.format, input.name);
  const source = input.name;
  return streamInput(source, trustedFormat(format, wholeLinesOf(head), trustIn(source, options)), {
    ...options,
    chunks,
    stored,
  });
}

export interface StreamOptions extends Pick<OpenOptions, "maxLineBytes" | "archive" | "damage"> {
  /** Decompressed. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Stored bytes that were read and not reported yet. */
  readonly stored: { bytes: number };
}

/** As {@link openStream}, for a stream whose format is known. */
export function streamInput(
  source: string,
  format: DetectedFormat,
  options: StreamOptions,
): IndexInput {
  return {
    source,
    format,
    size: undefined,
    isInflated: false,
    parts: () => blockParts(source, format, options),
  };
}

async function* blockParts(
  source: string,
  format: DetectedFormat,
  { chunks, stored, maxLineBytes, archive, damage }: StreamOptions,
): AsyncGenerator<Part, void, undefined> {
  const rows = containerRows(chunks, format, { source, maxLineBytes, archive, damage });
  for await (const block of lineBlocks(rows, maxLineBytes)) {
    const { bytes } = stored;
    stored.bytes = 0;
    yield { source, bytes, task: { kind: "block", ...block, format } };
  }
}

/** Without the line that is cut at the end of what was looked at. */
export function wholeLinesOf(head: Uint8Array): Uint8Array {
  return head.length < HEAD_BYTES ? head : head.subarray(0, head.lastIndexOf(LF) + 1);
}
