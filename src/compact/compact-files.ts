import { join } from "node:path";
import { LF } from "../bytes/bytes.ts";
import { type FileSource, type InputStreams, openInput } from "../files/input-file.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import type { Interrupt } from "../interruption.ts";
import { type MapHead, mapHeadOf } from "../ukvs/head.ts";
import type { MapOutput } from "../maps/map-output.ts";
import { compactBy, type CompactSummary } from "./compact-map.ts";
import { type WeightOptions, WeightPolicy } from "./weight-policy.ts";

export interface CompactFileOptions {
  readonly weights?: WeightOptions | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Called with the stored bytes read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface CompactFileSummary extends CompactSummary {
  /** Rows of the new map. */
  readonly rows: number;
  /** Bytes of the new map, before compression. */
  readonly bytes: number;
}

const HEAD_BYTES = 1 << 16;

/**
 * Compacts a map file by weights, reading it once. Memory does not grow with the map.
 *
 * @throws as compactMap, and MM_IO, MM_BAD_INPUT, MM_INTERRUPTED
 */
export async function compactFile(
  path: string,
  output: MapOutput,
  options: CompactFileOptions,
): Promise<CompactFileSummary> {
  const { streams, interrupt, onRead } = options;
  const input = await openInput(path, streams, { signal: interrupt?.signal, onRead });
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const spill = new ScratchSpill(join(scratch, "undecided"));
    let summary: CompactSummary = { rowsRead: 0, rollUps: 0 };
    try {
      const rows = compactBy(new WeightPolicy(options.weights), input.chunks, {
        source: input.name,
        spill,
        onHead: (headers) => output.writeHead(headers),
        onEnd: (ended) => (summary = ended),
      });
      for await (const block of rows) await output.write(block);
    } finally {
      spill.close();
      await input.close();
    }
    const { size, headBytes } = output;
    return { ...summary, rows: size.records, bytes: headBytes + size.bytes };
  });
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
