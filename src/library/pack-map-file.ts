import { MementoMapError } from "../errors.ts";
import { openOutput, type OutputStreams } from "../files/output-file.ts";
import { packageFile } from "../files/package-file.ts";
import type { MapStreams } from "../lookup/map-sources.ts";
import { guardOutputs } from "../maps/output-guard.ts";
import { type PackOptions, type PackSummary, writePackedMap } from "../pack/pack-files.ts";
import { MAX_ROW_BITS } from "../packed/packed-file.ts";

/** What a packed map is to be. */
export interface PackForm {
  /** At most this large; by default as large as pays. */
  readonly maxBytes?: number | undefined;
  /** Bits of a row, 0 to 31 in eighths; chosen with the rows by default. */
  readonly bits?: number | undefined;
  /** About how much to hold of names and shards; more goes to scratch files. */
  readonly memoryBytes?: number | undefined;
}

/** How it is made. */
interface PackWork extends Pick<PackOptions, "archive" | "scratch" | "threads" | "onRead"> {
  readonly misses?: string | undefined;
  /** Replaces an existing file that is not a packed map. */
  readonly force?: boolean | undefined;
}

/** Packs a map file. */
export async function packMapFile(
  source: string,
  target: string,
  form: PackForm,
  options: PackWork,
  streams: MapStreams & OutputStreams,
): Promise<PackSummary> {
  const { bits = 0 } = form;
  if (!(bits >= 0 && bits <= MAX_ROW_BITS)) {
    throw new MementoMapError(
      "MM_USAGE",
      `a packed map has 0 to ${MAX_ROW_BITS} bits for a row, not ${bits}`,
    );
  }
  const { misses, archive, scratch, force, onRead } = options;
  const output = { path: target, kind: "packed" } as const;
  await guardOutputs([output], { inputs: [source, misses], force });
  // Where the files of threads are not installed, there is one.
  const threads = options.threads ?? (packageFile("package.json") === undefined ? 1 : undefined);
  const file = await openOutput(target, streams);
  try {
    const packing = { ...form, misses, archive, scratch, threads, onRead, streams };
    return await writePackedMap(source, file, packing);
  } catch (error) {
    await file.abort();
    throw error;
  }
}
