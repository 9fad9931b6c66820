import { join } from "node:path";
import { countLines } from "../bytes/bytes.ts";
import { type MapSize, SizedHead, type UkvsHeaders } from "../ukvs/header.ts";
import type { MapSink } from "../ukvs/writer.ts";
import { MementoMapError } from "../errors.ts";
import { copyToOutput, type Output, type OutputStreams, withOutput } from "../files/output-file.ts";
import { mapRecordsIn } from "./file-kind.ts";
import { withTempDir } from "../files/scratch.ts";

/** Writes a map: its headers, then its rows. Fills in `!size` from the rows written. */
export class MapOutput implements MapSink {
  readonly #output: Output;
  #head: SizedHead | undefined;
  #bytes = 0;
  #records = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Size of the rows written so far. */
  get size(): MapSize {
    return { bytes: this.#bytes, records: this.#records };
  }

  /** Bytes of the header lines. */
  get headBytes(): number {
    return this.#head?.length ?? 0;
  }

  /** Writes the headers; must be called once, before any row. */
  async writeHead(headers: UkvsHeaders): Promise<void> {
    this.#head = new SizedHead(headers);
    await this.#output.write(this.#head.bytes(this.size));
  }

  /** Writes whole rows. Passing their number avoids counting them. */
  async write(rows: Uint8Array, records: number = countLines(rows)): Promise<void> {
    this.#records += records;
    this.#bytes += rows.length;
    await this.#output.write(rows);
  }

  /** Fills in the size, once all rows are written. */
  async finish(): Promise<void> {
    if (this.#head === undefined) throw new Error("a map without headers was written");
    await this.#output.replaceHead?.(this.#head.bytes(this.size));
  }
}

export interface MapOutputStreams extends OutputStreams {
  /** Whether an empty map may overwrite one with records. */
  readonly force?: boolean | undefined;
  /** The folder for scratch files. */
  readonly tmp?: string | undefined;
}

/**
 * Runs `use` with an output for a map: committed when it returns, aborted when it throws.
 *
 * The size of a map comes first in it and is known last. In a plain file it is filled in at the end.
 * Compressed output, standard output and devices are first written uncompressed to a scratch file,
 * which is sent when complete.
 *
 * @throws MM_EMPTY for an empty map that would replace one with records; as `openOutput`
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
      "the new map has no records, but the existing file has; use --force to replace it",
      { position: { source: replaced } },
    );
  }
  await map.finish();
  return result;
}
