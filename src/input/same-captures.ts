import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { lineBatches } from "../bytes/lines.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { decompressed } from "../files/decompress.ts";
import { fileChunks } from "./read-file.ts";
import type { IndexInput } from "./index-input.ts";

/** What a path that was given stands for. */
export interface GivenInputs {
  readonly path: string;
  readonly inputs: readonly IndexInput[];
}

/** A file of records within a line of an index: of CDXJ, JSON or CDX. */
const RECORDS_NAME = /[^\s"/\\]+\.w?arc(?:\.gz|\.zst)?(?=["\s]|$)/g;

/**
 * Refuses a file that is given twice, by whatever name: its captures would count twice.
 *
 * @throws MM_USAGE
 */
export async function refuseSameFiles(given: readonly GivenInputs[]): Promise<void> {
  const known = new Map<string, { readonly name: string; readonly at: number }>();
  for (const [at, { path, inputs }] of given.entries()) {
    for (const name of new Set([path, ...inputs.map(({ source }) => source)])) {
      const file = await fileIdentity(name);
      if (file === undefined) continue;
      const other = known.get(file);
      if (other !== undefined && (other.at !== at || other.name !== name)) {
        throw new MementoMapError(
          "MM_USAGE",
          other.name === name
            ? `${quote(name)} is given twice, and would count twice; name it once`
            : `${quote(other.name)} and ${quote(name)} are the same file, which would count twice; name it once`,
        );
      }
      known.set(file, { name, at });
    }
  }
}

/** What tells a file from others, whatever its name; undefined for what is not a file. */
async function fileIdentity(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats?.isFile() === true && stats.ino !== 0n ? `${stats.dev}:${stats.ino}` : undefined;
}

/** Whether an input is a file of records, and not an index of them. */
export function holdsRecords({ format }: IndexInput): boolean {
  return format.container === "warc" || format.container === "arc";
}

/**
 * The base names of files of records that indexes name. Reads the indexes, but only if there are
 * files of records too.
 */
export async function indexedFiles(inputs: readonly IndexInput[]): Promise<ReadonlySet<string>> {
  const wanted = new Set(inputs.filter(holdsRecords).map(({ source }) => basename(source)));
  const named = new Set<string>();
  for (const input of inputs) {
    if (named.size === wanted.size) break;
    if (isIndex(input)) await addNamed(input.source, wanted, named);
  }
  return named;
}

function isIndex(input: IndexInput): boolean {
  const { name } = input.format;
  return (name === "cdx" || name === "cdxj") && !holdsRecords(input);
}

async function addNamed(
  source: string,
  wanted: ReadonlySet<string>,
  named: Set<string>,
): Promise<void> {
  if ((await fileIdentity(source)) === undefined) return;
  const decoder = new TextDecoder("latin1");
  try {
    const chunks = decompressed(fileChunks({ path: source, source }), { source });
    for await (const { bytes, starts, ends, count } of lineBatches(chunks, { source })) {
      for (let i = 0; i < count; i++) {
        const line = decoder.decode(bytes.subarray(starts[i], ends[i]));
        for (const [name] of line.matchAll(RECORDS_NAME)) if (wanted.has(name)) named.add(name);
      }
      if (named.size === wanted.size) return;
    }
  } catch (error) {
    // What is wrong with it is told when it is read for its captures.
    if (!isMementoMapError(error)) throw error;
  }
}
