import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { lineBatches } from "../bytes/lines.ts";
import { isMementoMapError } from "../errors.ts";
import { decompressed } from "../files/decompress.ts";
import { surt } from "../surt/uri-to-surt.ts";
import { decompressedHead } from "./file-inputs.ts";
import type { IndexInput } from "./index-input.ts";
import { fileChunks } from "./file-chunks.ts";

/** Whether an input is a file of records, and not an index of them. */
export function holdsRecords({ format }: IndexInput): boolean {
  return format.name === "warc" || format.name === "arc";
}

function isIndex(input: IndexInput): boolean {
  return ["cdx", "cdxj", "json", "timemap", "memgator-log"].includes(input.format.name);
}

/**
 * The files of records that indexes among the inputs list, by their sources.
 *
 * An index lists a file if it has one of its first records under its base name. The name alone proves
 * nothing: crawls reuse names, and an index may hold a capture of a file of that name. Reads the
 * indexes, but only if there are files of records too.
 */
export async function listedFiles(inputs: readonly IndexInput[]): Promise<ReadonlySet<string>> {
  const unlisted = new Map<string, RecordsFile[]>();
  for (const { source } of inputs.filter(holdsRecords)) {
    if (!(await isFile(source))) continue;
    const name = basename(source);
    unlisted.set(name, [...(unlisted.get(name) ?? []), new RecordsFile(source)]);
  }
  const listed = new Set<string>();
  for (const input of inputs.filter(isIndex)) {
    if (unlisted.size === 0) break;
    if (await isFile(input.source)) await moveListed(input.source, unlisted, listed);
  }
  return listed;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** A file of records within a line of an index: of CDXJ, JSON or CDX. */
const RECORDS_NAME = /(?<![^\s"/\\])[^\s"/\\]+\.w?arc(?:\.gz|\.zst)?(?=["\s]|$)/g;
const latin1 = new TextDecoder("latin1");

/** @param unlisted files by their base names; those that the index lists are moved to `listed`. */
async function moveListed(
  index: string,
  unlisted: Map<string, RecordsFile[]>,
  listed: Set<string>,
): Promise<void> {
  try {
    const chunks = decompressed(fileChunks({ path: index, source: index }), { source: index });
    for await (const { bytes, starts, ends, count } of lineBatches(chunks, { source: index })) {
      for (let i = 0; i < count; i++) {
        const line = latin1.decode(bytes.subarray(starts[i], ends[i]));
        for (const [name] of line.matchAll(RECORDS_NAME)) {
          for (const file of unlisted.get(name) ?? []) {
            if (await file.hasRecordOf(line)) listed.add(file.source);
          }
          const left = (unlisted.get(name) ?? []).filter(({ source }) => !listed.has(source));
          if (left.length === 0) unlisted.delete(name);
          else unlisted.set(name, left);
        }
      }
      if (unlisted.size === 0) return;
    }
  } catch (error) {
    // The fault is reported when the file is read for its captures.
    if (!isMementoMapError(error)) throw error;
  }
}

/** A file of records, whose first bytes are read when an index names it. */
class RecordsFile {
  readonly source: string;
  /** The URIs of its first records, as written and as keys, by datetimes of 14 digits. */
  #records: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(source: string) {
    this.source = source;
  }

  async hasRecordOf(line: string): Promise<boolean> {
    this.#records ??= await firstRecords(this.source);
    for (const [datetime] of line.matchAll(/(?<!\d)\d{14}/g)) {
      if (this.#records.get(datetime)?.some((uri) => line.includes(uri)) === true) return true;
    }
    return false;
  }
}

async function firstRecords(source: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const records = new Map<string, string[]>();
  try {
    const head = latin1.decode(await decompressedHead(source));
    for (const { uri, datetime } of recordsIn(head)) {
      records.set(datetime, [...(records.get(datetime) ?? []), uri, `${surt(uri)} `]);
    }
  } catch (error) {
    // The fault is reported when the file is read.
    if (!isMementoMapError(error)) throw error;
  }
  return records;
}

function* recordsIn(head: string): Generator<{ uri: string; datetime: string }> {
  for (const [header] of head.matchAll(/^WARC\/\d[^]{0,4096}?\n\r?\n/gm)) {
    const [, uri] = /^WARC-Target-URI:[ \t]*<?(\S+?)>?[ \t\r]*$/im.exec(header) ?? [];
    const [, date] = /^WARC-Date:[ \t]*(\S+)/im.exec(header) ?? [];
    if (uri === undefined || date === undefined) continue;
    yield { uri, datetime: date.replaceAll(/\D/g, "").slice(0, 14) };
  }
  // Of an ARC file: URI, address, datetime.
  for (const [, uri, datetime] of head.matchAll(/^([a-z]+:\S+) \S+ (\d{14}) /gm)) {
    yield { uri, datetime };
  }
}
