import { join } from "node:path";
import { countLines } from "../bytes/bytes.ts";
import { type MapSize, SizedHead, type UkvsHeaders } from "../ukvs/header.ts";
import type { MapSink } from "../ukvs/writer.ts";
import { MementoMapError } from "../errors.ts";
import { copyToOutput, type Output, type OutputStreams, withOutput } from "../files/output-file.ts";
import { mapRecordsIn } from "./file-kind.ts";
import { withTempDir } from "../files/scratch.ts";

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
