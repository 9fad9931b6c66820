import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isScope, SCOPE_EXPECTED } from "../../aggregate/route/archive.ts";
import { isPacked } from "../../bytes/bytes.ts";
import { ioError, MementoMapError, quote } from "../../errors.ts";
import { decompressedHead } from "../../input/file-inputs.ts";
import { generateFiles } from "../../generate/generate.ts";
import { openMapFile } from "../../lookup/open-map-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { isJsonObject } from "../../ukvs/header.ts";
import { mapHeaders } from "../evaluate/truth.ts";
import type { LookupStream } from "./lookup-stream.ts";

/** An archive of a simulation. */
export interface SimulatedArchive {
  readonly id: string;
  readonly probability: number | undefined;
  readonly scope: readonly string[] | undefined;
  /** The path of its map, if the list names one. */
  readonly map: string | undefined;
  /** The number of mementos of each original of the stream. */
  readonly held: Uint32Array;
}

interface ArchiveOptions {
  readonly stream: LookupStream;
  /** The folder for scratch files. */
  readonly scratch: string;
  readonly streams: MapStreams;
}

/**
 * Reads the archives of a simulation: a JSON list whose entries have an `id` and `holdings`, the path of
 * a map or an index of any format, relative to the list.
 *
 * @throws MM_BAD_INPUT for an invalid list; MM_IO; errors in holdings
 */
export async function readArchives(
  path: string,
  options: ArchiveOptions,
): Promise<SimulatedArchive[]> {
  const entries = await listOf(path);
  const archives: SimulatedArchive[] = [];
  for (const [number, entry] of entries.entries()) {
    if (!isJsonObject(entry) || typeof entry["id"] !== "string") {
      throw fault(path, number, `it has no "id"`);
    }
    const { id, holdings, mementomap, probability, scope } = entry;
    const beside = (name: unknown): string | undefined =>
      typeof name === "string" ? resolve(dirname(path), name) : undefined;
    const file = beside(holdings);
    if (file === undefined) {
      throw fault(path, number, `${quote(id)} has no "holdings", the path of a map or an index`);
    }
    if (scope !== undefined && !isScope(scope)) {
      throw fault(path, number, `"scope" of ${quote(id)}: ${SCOPE_EXPECTED}`);
    }
    archives.push({
      id,
      probability: typeof probability === "number" ? probability : undefined,
      scope,
      map: beside(mementomap),
      held: await fileHoldings(file, options),
    });
  }
  return archives;
}

async function listOf(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw ioError(error, path);
  });
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new MementoMapError("MM_BAD_INPUT", "not a list of archives: expected a JSON array", {
    position: { source: path },
  });
}

function fault(source: string, number: number, message: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", `archive ${number + 1}: ${message}`, {
    position: { source },
  });
}

/** The mementos of each original in a map or an index, which is converted to a map with queries first. */
async function fileHoldings(
  path: string,
  { stream, scratch, streams }: ArchiveOptions,
): Promise<Uint32Array> {
  const isMap = isPacked(await decompressedHead(path)) || (await mapHeaders(path)) !== undefined;
  const map = isMap ? path : join(scratch, "holdings.ukvs");
  if (!isMap) {
    await withMapOutput(map, { stdout: process.stdout, interrupt: streams.interrupt }, (output) =>
      generateFiles([path], output, { scratch, streams, queries: true }),
    );
  }
  const opened = await openMapFile(map, streams, { forMany: true });
  try {
    const held = new Uint32Array(stream.originals.length);
    for (const [place, key] of stream.originals.entries()) {
      const { present, frequency } = await opened.lookup.lookupSurt(key);
      if (present) held[place] = Math.max(1, Number.parseInt(frequency ?? "1", 10) || 1);
    }
    return held;
  } finally {
    await opened.close();
  }
}
