import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { joinBytes } from "../../bytes/bytes.ts";
import { MementoMapError, systemCode } from "../../errors.ts";
import { openInput } from "../../files/input-file.ts";
import type { Output } from "../../files/output-file.ts";
import { packDelta, type PackDeltaOptions } from "./pack-delta.ts";
import { type PackSummary, withPackedMap } from "./pack-files.ts";

/** The packed map that a delta is made for. */
export interface BaseFile {
  readonly path: string;
  /** Undefined for one that is to be written first. */
  readonly bytes: Uint8Array | undefined;
  /** Whether the delta is added to it, and not written alone. */
  readonly isTarget: boolean;
}

/** What was written. */
export interface PackFileResult {
  /** Undefined where nothing was written, because the base was made from the same map. */
  readonly summary: PackSummary | undefined;
  /** The place of a delta behind the whole map, from 1 on; undefined for a whole map. */
  readonly position: number | undefined;
  /** Why the whole map was packed in place of a delta. */
  readonly reason: string | undefined;
}

/**
 * Reads the packed map that a delta is made for, compressed or not.
 *
 * @throws MM_IO, also where it is not there, unless it is the target
 */
export async function readBase(path: string, target: string | undefined): Promise<BaseFile> {
  const isTarget = target !== undefined && (await isSame(path, target));
  const isThere = await stat(path).then(
    () => true,
    (error: unknown) => systemCode(error) !== "ENOENT",
  );
  if (isTarget && !isThere) return { path, isTarget, bytes: undefined };
  const input = await openInput(path, { stdin: process.stdin });
  const blocks: Uint8Array[] = [];
  try {
    for await (const chunk of input.chunks) blocks.push(chunk);
  } finally {
    await input.close();
  }
  return { path, isTarget, bytes: joinBytes(blocks) };
}

/** Whether two paths lead to the same file, whether it is there or not. */
async function isSame(one: string, other: string): Promise<boolean> {
  if (resolve(one) === resolve(other)) return true;
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/**
 * Packs a map into a file, and commits it; with a base, only what is new since then. A base that is the target
 * gets the delta behind it, and stays as it is where nothing is new.
 *
 * @throws as withPackedMap and packDelta; MM_USAGE for years with a base
 */
export async function writePacked(
  map: string,
  output: Output,
  options: PackDeltaOptions,
  base?: BaseFile,
): Promise<PackFileResult> {
  if (base !== undefined && options.years === true) {
    throw new MementoMapError(
      "MM_USAGE",
      "a delta cannot add years to what its base holds; pack the whole map, without a base",
    );
  }
  if (base?.bytes === undefined) {
    const summary = await withPackedMap(map, options, async (whole) => {
      for (const chunk of whole.chunks()) await output.write(chunk);
      return whole.summary;
    });
    await output.commit();
    const reason = base === undefined ? undefined : "there is no base yet";
    return { summary, position: undefined, reason };
  }
  const { bytes, isTarget, path: source } = base;
  const { file, ...result } = await packDelta(
    map,
    { bytes, source },
    { ...options, packsUnchanged: !isTarget },
  );
  if (file === undefined) {
    await output.abort();
    return result;
  }
  if (isTarget && result.position !== undefined) await output.write(bytes);
  await output.write(file);
  await output.commit();
  return result;
}
