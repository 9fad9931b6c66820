import { join } from "node:path";
import { type ByteSource, readWhole } from "../bytes/byte-source.ts";
import { compareBytes, countLines, ZERO } from "../bytes/bytes.ts";
import { type MapSize, SizedHead, type UkvsHeaders } from "../ukvs/header.ts";
import type { MapSink } from "../ukvs/writer.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { plainKeyEnd } from "../ukvs/row.ts";
import { eachRow, openWholeMap } from "./split-map.ts";
import { copyToOutput, type Output, type OutputStreams, withOutput } from "../files/output-file.ts";
import { mapRecordsIn } from "./output-guard.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import type { MergeOptions } from "./merge-maps.ts";
import { FileSource } from "../files/input-file.ts";

/** Takes a map: its headers, then its rows. States the size of what it was given in `!size`. */
export class MapOutput implements MapSink {
  readonly #output: Output;
  #head: SizedHead | undefined;
  #bytes = 0;
  #records = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** What was written so far, without the headers. */
  get size(): MapSize {
    return { bytes: this.#bytes, records: this.#records };
  }

  /** Bytes of the header lines. */
  get headBytes(): number {
    return this.#head?.length ?? 0;
  }

  /** Writes the headers; once, and before any row. */
  async writeHead(headers: UkvsHeaders): Promise<void> {
    this.#head = new SizedHead(headers);
    await this.#output.write(this.#head.bytes(this.size));
  }

  /** Writes whole rows. Passing their number saves the time to count them. */
  async write(rows: Uint8Array, records: number = countLines(rows)): Promise<void> {
    this.#records += records;
    this.#bytes += rows.length;
    await this.#output.write(rows);
  }

  /** Writes all rows of a file. */
  async copy(path: string, records: number): Promise<void> {
    this.#records += records;
    await copyToOutput(path, { write: (block) => this.write(block, 0) });
  }

  /** Fills in the size, when all rows are written. */
  async finish(): Promise<void> {
    if (this.#head === undefined) throw new Error("a map without headers was written");
    await this.#output.replaceHead?.(this.#head.bytes(this.size));
  }
}

export interface MapOutputStreams extends OutputStreams {
  /** Writes a map without a record over one that has some. */
  readonly force?: boolean | undefined;
  /** The folder for scratch files. */
  readonly tmp?: string | undefined;
}

/**
 * Runs `use` with an output for a map, which is committed when it returns and aborted when it throws.
 *
 * The size of a map comes first in it and is known last. In a file it is filled in at the end; what is
 * compressed, or goes to standard output or a device, is first written to a scratch file as it is, and
 * sent when it is whole.
 *
 * @throws MM_EMPTY for a map without a record that would replace one with some; as `openOutput`
 */
export function withMapOutput<T>(
  path: string | undefined,
  streams: MapOutputStreams,
  use: (output: MapOutput) => Promise<T>,
): Promise<T> {
  const replaced = streams.force === true ? undefined : path;
  return withOutput(path, streams, (output) => {
    if (output.replaceHead !== undefined) return filled(output, use, replaced);
    const { tmp: parent, interrupt, stdout } = streams;
    return withTempDir({ parent, interrupt }, async (folder) => {
      const whole = join(folder, "map");
      const scratch = { stdout, interrupt, isScratch: true };
      const result = await withOutput(whole, scratch, (file) => filled(file, use, replaced));
      await copyToOutput(whole, output);
      return result;
    });
  });
}

async function filled<T>(
  output: Output,
  use: (output: MapOutput) => Promise<T>,
  replaced: string | undefined,
): Promise<T> {
  const map = new MapOutput(output);
  const result = await use(map);
  if (map.size.records === 0 && replaced !== undefined && (await mapRecordsIn(replaced))) {
    throw new MementoMapError(
      "MM_EMPTY",
      "the new map has no records, but the existing file has; it is kept, unless --force is given",
      { position: { source: replaced } },
    );
  }
  await map.finish();
  return result;
}

/**
 * Whether a map has the form that writers produce, so that merging it alone would not change it. Detects
 * this of plain maps only: of others, and of those with a fault, the result is false.
 */
export async function isCanonicalMap(source: ByteSource, signal?: AbortSignal): Promise<boolean> {
  try {
    const reader = await openWholeMap(source, signal);
    const { headers } = reader;
    const { keys, values } = headers.fields;
    if (keys.length !== 1 || values.length !== 1) {
      await reader.close();
      return false;
    }
    let [isPlain, records, first, next] = [true, 0, source.size, source.size];
    await eachRow(reader, source.name, (row, isNew) => {
      const { bytes, start, keyEnd, end, offset } = row;
      if (records === 0) first = next = offset;
      // Another 0, such as 0+ or 00, is written as 0.
      const isOtherZero = bytes[keyEnd + 1] === ZERO && keyEnd + 2 < end;
      isPlain &&= isNew && offset === next && !isOtherZero && plainKeyEnd(bytes, start, end) !== -1;
      records++;
      next = offset + end - start + 1;
    });
    // Where lines end in CR LF, or the last one has no end, the next does not begin there.
    if (!isPlain || next !== source.size) return false;
    const head = new SizedHead(headers).bytes({ bytes: source.size - first, records });
    return compareBytes(head, await readWhole(source, 0, first)) === 0;
  } catch (error) {
    // Merging it reports the fault.
    if (isMementoMapError(error) && error.code !== "MM_INTERRUPTED") return false;
    throw error;
  }
}

/**
 * Runs `use` with a map in the form that writers produce: the map merged alone, in a file of the
 * folder `scratch`. Messages call it as the map.
 *
 * @throws as mergeMaps, and MM_IO
 */
export async function withCanonicalMap<T>(
  source: FileSource,
  scratch: string,
  options: MergeOptions,
  use: (canonical: FileSource) => Promise<T>,
): Promise<T> {
  const path = join(scratch, "canonical.ukvs");
  // Loaded when it is needed, which is rare.
  const { mergeMaps } = await import("./merge-maps.ts");
  const streams = { stdout: process.stdout, isScratch: true, force: true };
  const spill = new ScratchSpill(join(scratch, "sorted"));
  try {
    await withMapOutput(path, streams, (output) =>
      mergeMaps([source], output, { ...options, spill }),
    );
  } finally {
    spill.close();
  }
  const canonical = await FileSource.open(path, source.name);
  try {
    return await use(canonical);
  } finally {
    await canonical.close();
  }
}
