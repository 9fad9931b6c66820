import { open } from "node:fs/promises";
import { join } from "node:path";
import { formatAmount, formatCount, ioError, systemCode } from "../../errors.ts";
import { fileChunks, type FileSource } from "../../files/input-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { digestOf } from "../../files/source-digest.ts";
import { PackedNames } from "../../packed/packed-map.ts";
import { DEFAULT_MAX_DELTAS } from "../../packed/packed-file.ts";
import { type PackedParts, parseParts } from "../../packed/packed-parts.ts";
import { headerText, SizedHead, type UkvsHeaders } from "../../ukvs/header.ts";
import { rowBlocks } from "../compact/compact-map.ts";
import { MapLines } from "../compact/map-lines.ts";
import { withMapSources } from "../lookup/map-sources.ts";
import { NewRows } from "./new-rows.ts";
import { packMap, type PackOptions, type PackSummary } from "./pack-files.ts";
import { needsPresentKeys } from "./older-keys.ts";
import { timelessHeaders } from "./timeless.ts";

/** Deltas may take this share of the whole map, or this many bytes if that is more. */
const MAX_SHARE = 0.25;
const MAX_SMALL_BYTES = 65_536;
/**
 * Rows of a delta have this many bits more than those before: all deltas of a chain together are
 * mistaken less often than the whole map.
 */
const MORE_BITS = 3;
const LEAST_BITS = 8;
const MOST_BITS = 31;

export interface PackDeltaOptions extends PackOptions {
  /** How many deltas may follow the whole map; default 7. */
  readonly maxDeltas?: number | undefined;
  /** Whether a map that the base was made from gets a delta too, without rows; default true. */
  readonly packsUnchanged?: boolean | undefined;
}

/** The packed map that a delta is made for. */
export interface DeltaBase {
  readonly bytes: Uint8Array;
  /** What messages call it. */
  readonly source: string;
}

/** A delta, or the whole map where a delta does not pay; `file` is undefined where nothing is new. */
export interface PackedDelta {
  readonly file: Uint8Array | undefined;
  readonly summary: PackSummary | undefined;
  /** The place of the delta in the chain; undefined for a whole map. */
  readonly position: number | undefined;
  /** Why the whole map was packed. */
  readonly reason: string | undefined;
}

/**
 * Packs what a map holds and a packed map of an older version calls absent: a delta, to be read behind
 * it. Where the chain of deltas has become too long or too large, packs the whole map.
 *
 * Every row of the map is asked: of the old packed map or of the delta. Holds the old one and what
 * `packMap` holds for the rows that are new. Options for the size are for the whole map.
 *
 * @throws as packMap; MM_BAD_INPUT, MM_CUT for a base that is damaged or is not a packed map
 */
export async function packDelta(
  path: string,
  base: DeltaBase,
  options: PackDeltaOptions,
): Promise<PackedDelta> {
  const parts = parseParts(base.bytes, base.source);
  const names = parts.heads.map((head) => PackedNames.copied(base.bytes, head, base.source));
  const { streams, scratch: parent } = options;
  const { maxDeltas = DEFAULT_MAX_DELTAS } = options;
  return withMapSources([path], { io: streams, tmp: parent }, ([source]) =>
    withTempDir({ parent, interrupt: streams.interrupt }, async (scratch) => {
      const { signal } = streams.interrupt ?? {};
      const whole = async (reason: string): Promise<PackedDelta> => {
        const packed = await packMap(source.path, options);
        return { ...packed, position: undefined, reason };
      };
      const sha256 = await digestOf(fileChunks(source, signal));
      const isUnchanged = parts.header.source?.sha256 === sha256;
      const { maxBytes = Infinity } = options;
      const fits = base.bytes.length <= maxBytes;
      if (isUnchanged && options.packsUnchanged === false && fits) return UNCHANGED;
      const position = parts.heads.length;
      if (position > maxDeltas)
        return whole(`the base has ${formatAmount(maxDeltas, "delta")}, as many as it may have`);
      const rowsPath = join(scratch, "new");
      const newRows = new NewRows(names);
      const { headers, rows } = await writeNewRows(source, newRows, rowsPath, options).catch(
        async (error: unknown) => {
          if (!needsPresentKeys(error)) throw error;
          const { withPresentKeys } = await import("./present-keys.ts");
          const ofPresent = new NewRows(names, { mayHaveOlderKeys: true });
          return withPresentKeys(source, scratch, { signal }, (map) =>
            writeNewRows(map, ofPresent, rowsPath, options),
          );
        },
      );
      if ((headers.fields.queries === true) !== parts.header.queries) {
        return whole("only one of the base and the map has queries");
      }
      const delta = { base: parts.mark, position, most: maxDeltas };
      const packed = await packMap(rowsPath, {
        ...options,
        maxBytes: undefined,
        misses: undefined,
        bits: options.bits ?? deltaBits(parts),
        // A bound of captures that the whole map does not state cannot be exceeded.
        countBits: parts.heads[0].header.table.count,
        part: { delta, sourceRows: rows, sha256 },
      });
      const [{ end }] = parts.heads;
      const deltaBytes = base.bytes.length - end + packed.file.length;
      if (deltaBytes > Math.max(MAX_SMALL_BYTES, MAX_SHARE * end)) {
        return whole(
          `the deltas would take ${formatCount(deltaBytes)} bytes, more than a quarter of the base`,
        );
      }
      const bytes = base.bytes.length + packed.file.length;
      if (bytes > maxBytes) {
        return whole(`with its deltas it would take ${formatCount(bytes)} bytes, more than it may`);
      }
      const summary = { ...packed.summary, rowsRead: rows };
      return { file: packed.file, summary, position, reason: undefined };
    }),
  );
}

const UNCHANGED: PackedDelta = {
  file: undefined,
  summary: undefined,
  position: undefined,
  reason: undefined,
};

/** Writes a map of the rows that are new; returns the headers and the rows of the whole map. */
async function writeNewRows(
  source: FileSource,
  newRows: NewRows,
  path: string,
  { streams, onRead }: PackDeltaOptions,
): Promise<{ readonly headers: UkvsHeaders; readonly rows: number }> {
  let found: UkvsHeaders | undefined;
  let lines: MapLines | undefined;
  try {
    const file = await open(path, "w");
    let hasRows = false;
    const write = async (headers: UkvsHeaders, rows: Uint8Array): Promise<void> => {
      if (rows.length === 0) return;
      if (!hasRows) await file.writeFile(headerText(timelessHeaders(headers)));
      hasRows = true;
      await file.writeFile(rows);
    };
    try {
      const chunks = fileChunks(source, streams.interrupt?.signal, onRead);
      for await (const { headers, bytes, firstLine } of rowBlocks(chunks, source.name)) {
        found = headers;
        lines ??= new MapLines(newRows, headers.fields);
        lines.read(bytes, { source: source.name, firstLine });
        await write(headers, newRows.take());
      }
      if (found === undefined || lines === undefined) throw new Error("a map has a block");
      await write(found, newRows.takeLast());
      if (!hasRows) {
        await file.writeFile(new SizedHead(timelessHeaders(found)).bytes({ bytes: 0, records: 0 }));
      }
      return { headers: found, rows: lines.rows };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, path);
  }
}

/** The bits of a row of a delta: those of the whole map on average, and some more. */
function deltaBits({ heads: [{ header, shards }] }: PackedParts): number {
  let [slots, bits, at] = [0, 0, 0];
  for (const filter of header.filters) {
    for (const shard of shards.slice(at, at + filter.shards)) {
      if (filter.kind !== "rows") continue;
      slots += shard.slots;
      bits += shard.slots * filter.bits;
    }
    at += filter.shards;
  }
  const mean = slots === 0 ? 0 : bits / slots;
  return Math.min(MOST_BITS, Math.max(LEAST_BITS, Math.round(mean + MORE_BITS)));
}
