import { open } from "node:fs/promises";
import { join } from "node:path";
import { compareColumns } from "../ukvs/record.ts";
import { ioError, isMementoMapError, systemCode } from "../errors.ts";
import { FileSource } from "../files/input-file.ts";
import { askedKey } from "../surt/spelling.ts";
import { headerText, SIZE_HEADER, UkvsHeaders } from "../ukvs/header.ts";
import { openLogicalMaps } from "../maps/logical-map.ts";
import { mergeMaps } from "../maps/merge-maps.ts";
import { type MergeRow, rowAt } from "../maps/merge-row.ts";
import { RowCursor } from "../maps/row-cursor.ts";
import { withMapOutput } from "../maps/map-output.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Thrown for a map whose keys are not those that lookups ask for. */
export class OtherKeys extends Error {}

/** Whether a map is to be packed by {@link withPresentKeys}. */
export function needsPresentKeys(error: unknown): boolean {
  return error instanceof OtherKeys || (isMementoMapError(error) && error.code === "MM_NOT_SORTED");
}

/**
 * Runs `use` with a map in the form that writers produce, and with every row under all keys that lookups find it
 * by: a packed map cannot be asked for older spellings. The map is in a file of the folder `scratch`; messages call
 * it as the given one.
 *
 * Reads the map once more than a merge does, and holds the rows that get another key. Where two spellings are one key
 * now, the rows are added up.
 *
 * @throws as mergeMaps, and MM_IO
 */
export async function withPresentKeys<T>(
  source: FileSource,
  scratch: string,
  options: { readonly signal?: AbortSignal | undefined },
  use: (present: FileSource) => Promise<T>,
): Promise<T> {
  const parts = await presentParts(source, scratch, options);
  const path = join(scratch, "present.ukvs");
  try {
    const streams = { stdout: process.stdout, isScratch: true, force: true };
    await withMapOutput(path, streams, (output) => mergeMaps(parts, output, options));
  } finally {
    for (const part of parts) if (part !== source) await part.close();
  }
  const present = await FileSource.open(path, source.name);
  try {
    return await use(present);
  } finally {
    await present.close();
  }
}

/** The map without rows that get another key, and maps of these; the map itself where there are none. */
async function presentParts(
  source: FileSource,
  scratch: string,
  options: { readonly signal?: AbortSignal | undefined },
): Promise<FileSource[]> {
  const [map] = await openLogicalMaps([source], options);
  const { fields } = map.headers;
  const head = headerText(
    new UkvsHeaders(map.headers.list.filter(({ name }) => name !== SIZE_HEADER)),
  );
  const found: MergeRow[] = [];
  async function* kept(): AsyncGenerator<MergeRow, void, undefined> {
    const rows = new RowCursor(map.batches());
    for (await rows.advance(); !rows.isDone; await rows.advance()) {
      const row = rowAt(rows, 0);
      const key = decoder.decode(row.bytes.subarray(0, row.keyEnd));
      const asked = askedKey(key, fields);
      if (asked === key) yield row;
      else found.push(withKey(row, asked));
    }
  }
  const rest = await writeMap(join(scratch, "kept.ukvs"), source.name, head, kept());
  if (found.length === 0) {
    await rest?.close();
    return [source];
  }
  const parts = rest === undefined ? [] : [rest];
  for (const [i, rows] of layersOf(found).entries()) {
    const layer = await writeMap(join(scratch, `moved${i}.ukvs`), source.name, head, rows);
    if (layer !== undefined) parts.push(layer);
  }
  return parts;
}

function withKey(row: MergeRow, written: string): MergeRow {
  const key = encoder.encode(written);
  const longer = key.length - row.keyEnd;
  const bytes = new Uint8Array(row.bytes.length + longer);
  bytes.set(key);
  bytes.set(row.bytes.subarray(row.keyEnd), key.length);
  return { ...row, bytes, keyEnd: key.length, tupleEnd: row.tupleEnd + longer };
}

/** Rows in order, in as many maps as rows of one key need. */
function layersOf(rows: readonly MergeRow[]): MergeRow[][] {
  const layers: MergeRow[][] = [];
  for (const row of rows.toSorted(compareTuples)) {
    const layer = layers.find((one) => compareTuples(one[one.length - 1], row) !== 0);
    if (layer === undefined) layers.push([row]);
    else layer.push(row);
  }
  return layers;
}

function compareTuples(a: MergeRow, b: MergeRow): number {
  return compareColumns(a.bytes, 0, a.tupleEnd, b.bytes, 0, b.tupleEnd);
}

const BLOCK_ROWS = 4096;

/** Writes a map; undefined for one without rows. */
async function writeMap(
  path: string,
  name: string,
  head: Uint8Array,
  rows: AsyncIterable<MergeRow> | Iterable<MergeRow>,
): Promise<FileSource | undefined> {
  let written = 0;
  try {
    const file = await open(path, "w");
    let block: Uint8Array[] = [head];
    const flush = async (): Promise<void> => {
      await file.writev(block);
      block = [];
    };
    try {
      for await (const { bytes } of rows) {
        written++;
        block.push(bytes, NEWLINE);
        if (block.length >= BLOCK_ROWS) await flush();
      }
      await flush();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, path);
  }
  return written === 0 ? undefined : FileSource.open(path, name);
}

const NEWLINE = encoder.encode("\n");
