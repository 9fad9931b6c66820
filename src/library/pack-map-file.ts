import { MementoMapError } from "../errors.ts";
import { openOutput, type OutputStreams } from "../files/output-file.ts";
import { packageFile } from "../files/package-file.ts";
import type { MapStreams } from "../map/lookup/map-sources.ts";
import { guardOutputs } from "../map/output/output-guard.ts";
import type { PackOptions } from "../map/pack/pack-files.ts";
import { type PackFileResult, readBase, writePacked } from "../map/pack/write-packed.ts";
import { MAX_DELTAS, MAX_ROW_BITS } from "../packed/packed-file.ts";

/** What a packed map is to be. */
export interface PackForm {
  /** At most this large; by default as large as pays. */
  readonly maxBytes?: number | undefined;
  /** Bits of a row, 0 to 31 in eighths; chosen with the rows by default. */
  readonly bits?: number | undefined;
  /** Whether to keep the first and the last year of each host, of a map with times; not with a base. */
  readonly years?: boolean | undefined;
  /** A packed map: only what it calls absent is packed, as a delta to be read behind it. */
  readonly base?: string | undefined;
  /** How many deltas may be behind a whole map, before it is packed whole again, 1 to 63; default 7. */
  readonly maxDeltas?: number | undefined;
  /** About how much to hold of names and shards; more goes to scratch files. */
  readonly memoryBytes?: number | undefined;
}

/** How it is made. */
interface PackWork extends Pick<PackOptions, "archive" | "scratch" | "threads" | "onRead"> {
  readonly misses?: string | undefined;
  /** Replaces an existing file that is not a packed map. */
  readonly force?: boolean | undefined;
}

/** Packs a map file; with a base, what is new since then. */
export async function packMapFile(
  source: string,
  target: string,
  form: PackForm,
  options: PackWork,
  streams: MapStreams & OutputStreams,
): Promise<PackFileResult> {
  const { base, bits = 0, maxDeltas = 1 } = form;
  if (!(bits >= 0 && bits <= MAX_ROW_BITS && maxDeltas >= 1 && maxDeltas <= MAX_DELTAS)) {
    throw new MementoMapError(
      "MM_USAGE",
      `a packed map has 0 to ${MAX_ROW_BITS} bits for a row, and 1 to ${MAX_DELTAS} deltas`,
    );
  }
  const { misses, archive, scratch, force, onRead } = options;
  const replaces = base === undefined ? [] : [base];
  const output = { path: target, kind: "packed", replaces } as const;
  await guardOutputs([output], { inputs: [source, misses, base], force });
  // Where the files of threads are not installed, there is one.
  const threads = options.threads ?? (packageFile("package.json") === undefined ? 1 : undefined);
  const file = await openOutput(target, streams);
  try {
    const old = base === undefined ? undefined : await readBase(base, target);
    const packing = { ...form, misses, archive, scratch, threads, onRead, streams };
    return await writePacked(source, file, packing, old);
  } catch (error) {
    await file.abort();
    throw error;
  }
}
