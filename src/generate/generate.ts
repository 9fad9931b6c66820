import { join } from "node:path";
import { MementoMapError } from "../errors.ts";
import { withTempDir } from "../files/scratch.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { MapSink } from "../ukvs/writer.ts";
import { withMapSources } from "../lookup/map-sources.ts";
import { type MapOutput, withMapOutput } from "../maps/map-output.ts";
import { joinDescriptions, writeMap } from "./combine.ts";
import { type MapDescription, mapHeaders } from "./map-rows.ts";
import { type KeysOptions, type KeysRead, type ReadingSummary, withKeysRead } from "./partition.ts";

export interface GenerateOptions extends KeysOptions {
  /** Maps to add the inputs to; the result is as if it were made from all their indexes. */
  readonly add?: readonly string[] | undefined;
}

export interface GenerateSummary extends ReadingSummary {
  /** Rows of the map. */
  readonly rows: number;
  /** Bytes of the map, before compression. */
  readonly bytes: number;
  /** The sum of all counts. */
  readonly mementos: number;
  /** Duplicate captures; known only with deduplication. */
  readonly duplicates: number;
  /** Sorted runs that went through the disk. */
  readonly runs: number;
}

/**
 * Generates a map from index files: reads, filters, keys, counts, sorts and writes.
 *
 * The rows do not depend on the order of files, on threads or on memory.
 *
 * @throws as withKeysRead
 */
export function generateFiles(
  paths: readonly string[],
  output: MapOutput,
  options: GenerateOptions,
): Promise<GenerateSummary> {
  if ((options.add ?? []).length > 0) return addToMaps(paths, output, options);
  return withKeysRead(paths, options, (read) => writeKeys(read, output, options));
}

async function writeKeys(
  read: KeysRead,
  output: MapOutput,
  { interrupt, maxOpenRuns }: GenerateOptions,
): Promise<GenerateSummary> {
  const { scratch, summary } = read;
  const written = await writeMap(read, output, { scratch, interrupt, maxOpenRuns });
  return {
    ...summary,
    ...written,
    duplicates: read.keys.distinct ? summary.counts.captures - written.mementos : 0,
    runs: read.runs.filter((run) => "path" in run).length,
  };
}

/** Makes a map of indexes, and merges it with others. */
async function addToMaps(
  paths: readonly string[],
  output: MapOutput,
  { add = [], ...options }: GenerateOptions,
): Promise<GenerateSummary> {
  const { interrupt, streams } = options;
  if (options.originals === true) {
    throw cannotAdd("a map does not say which originals it counted; leave out --originals");
  }
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const path = join(scratch, "new.ukvs");
    const stdout = process.stdout;
    const summary = await withMapOutput(path, { stdout, interrupt, isScratch: true }, (made) =>
      withKeysRead(paths, options, (read) => {
        if (read.keys.distinct) {
          throw cannotAdd(
            "a map does not say which captures it counted, so duplicates cannot be told",
          );
        }
        if (read.description.isSample === true) {
          throw cannotAdd("a sample tells of captures that the map has too");
        }
        return writeKeys(read, made, options);
      }),
    );
    const { mergeMaps } = await import("../maps/merge-maps.ts");
    const { openLogicalMaps } = await import("../maps/logical-map.ts");
    const io = { ...streams, interrupt };
    await withMapSources([path, ...add], { io, tmp: scratch }, async (sources) => {
      const maps = await openLogicalMaps(sources, { signal: interrupt?.signal });
      const descriptions = maps.map(({ headers }) => descriptionOf(headers));
      const headers = mapHeaders(joinDescriptions(descriptions), options);
      const sink: MapSink = {
        writeHead: () => output.writeHead(headers),
        write: (rows) => output.write(rows),
      };
      await mergeMaps(sources, sink, { signal: interrupt?.signal });
    });
    const { bytes, records } = output.size;
    return { ...summary, rows: records, bytes: bytes + output.headBytes, runs: 0 };
  });
}

/** The description in the headers of a map. */
function descriptionOf({ id, meta }: UkvsHeaders): MapDescription {
  const text = (name: string): string | undefined => {
    const value = meta[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    id,
    name: text("name"),
    updatedAt: text("updated_at"),
    generator: text("generator"),
    isSample: meta["sample"] === true,
    canonicalization: meta["canonicalization"] === "surt" ? "surt" : "index",
  };
}

function cannotAdd(why: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `cannot add to a map: ${why}`);
}
