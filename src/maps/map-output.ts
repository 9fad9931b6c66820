import { join } from "node:path";
import { countLines } from "../bytes/bytes.ts";
import { type MapSize, SizedHead, type UkvsHeaders } from "../ukvs/header.ts";
import type { MapSink } from "../ukvs/writer.ts";
import { MementoMapError } from "../errors.ts";
import {
  copyToOutput,
  type Output,
  type OutputHead,
  type OutputStreams,
  withOutput,
} from "../files/output-file.ts";
import { mapRecordsIn } from "./output-guard.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import type { MergeOptions } from "./merge-maps.ts";
import { FileSource } from "../files/input-file.ts";

/** A stretch of a map that others write. */
export interface RowsPlace {
  /** The file that becomes the output. */
  readonly path: string;
  /** Where in it the next byte belongs. */
  readonly offset: number;
  /** Says that others have written so much from `offset` on. */
  skip(size: MapSize): void;
}

/** Takes a map: its headers, then its rows. States the size of what it was given in `!size`. */
export class MapOutput implements MapSink {
  readonly #output: Output;
  readonly #place: OutputHead;
  #head: SizedHead | undefined;
  #bytes = 0;
  #records = 0;

  constructor(output: Output, head: OutputHead) {
    this.#output = output;
    this.#place = head;
  }

  /** What messages call it. */
  get name(): string {
    return this.#output.name;
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
    await this.#place.write(this.#head.bytes(this.size));
  }

  /** Writes whole rows. Giving their number saves the time to count them. */
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

  /** Where other threads may write the rows that come next; for plain files only. */
  get place(): RowsPlace | undefined {
    const place = this.#output.place;
    if (place === undefined) return undefined;
    return {
      path: place.path,
      offset: place.offset,
      skip: ({ bytes, records }) => {
        this.#bytes += bytes;
        this.#records += records;
        place.skip(bytes);
      },
    };
  }

  /** Fills in the size, when all rows are written. */
  async finish(): Promise<void> {
    if (this.#head === undefined) throw new Error("a map without headers was written");
    await this.#place.replace(this.#head.bytes(this.size));
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
  return withOutput(path, streams, (output) => {
    const { head } = output;
    const replaced = streams.force === true ? undefined : path;
    if (head !== undefined) return filled(output, head, use, replaced);
    const { tmp: parent, interrupt, stdout } = streams;
    return withTempDir({ parent, interrupt }, async (folder) => {
      const whole = join(folder, "map");
      const result = await withOutput(whole, { stdout, interrupt, isScratch: true }, (scratch) => {
        if (scratch.head === undefined) throw new Error("a scratch file is a plain file");
        return filled(scratch, scratch.head, use, replaced);
      });
      await copyToOutput(whole, output);
      return result;
    });
  });
}

async function filled<T>(
  output: Output,
  head: OutputHead,
  use: (output: MapOutput) => Promise<T>,
  replaced?: string,
): Promise<T> {
  const map = new MapOutput(output, head);
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
