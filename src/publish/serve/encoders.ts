import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { createWriteStream } from "node:fs";
import { MementoMapError } from "../../errors.ts";
import { codingFor } from "../../files/compress.ts";
import type { Encoding } from "../../http/representation.ts";

const SUFFIXES: Readonly<Record<Encoding, string>> = { gzip: ".gz", zstd: ".zst" };

/** The file name ending of a coding. */
export function suffixOf(encoding: Encoding): string {
  return SUFFIXES[encoding];
}

/**
 * The codings this machine can make, the best first.
 *
 * zstd is made by Node from 22.15 on, and by the `zstd` program where there is one.
 */
export function availableEncodings(): readonly Encoding[] {
  return hasZstd() ? ["zstd", "gzip"] : ["gzip"];
}

/** Compresses chunks into a file. Memory is bounded by a few chunks. */
export async function encodeToFile(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  path: string,
): Promise<void> {
  if (encoding === "gzip" || "createZstdCompress" in zlib) {
    const compressor = codingFor(`x${suffixOf(encoding)}`)?.compressor();
    if (compressor === undefined) throw new MementoMapError("MM_USAGE", `cannot make ${encoding}`);
    await pipeline(chunks, compressor, createWriteStream(path));
    return;
  }
  const child = spawn("zstd", ["-q", "-6", "-T1", "-c"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  // Awaited below; a program that cannot be started says so before.
  ended.catch(() => undefined);
  // Both are waited for, whatever happens: nothing may write to the file after this returns.
  const outcomes = await Promise.allSettled([
    pipeline(Readable.from(chunks, { objectMode: false }), child.stdin),
    pipeline(child.stdout, createWriteStream(path)),
  ]);
  const [code] = (await ended) as [number | null]; // what "close" is emitted with
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  if (code !== 0) throw new MementoMapError("MM_IO", `zstd ended with status ${code}`);
}

let zstdProgram: boolean | undefined;

function hasZstd(): boolean {
  if ("createZstdCompress" in zlib) return true;
  // Asked once: programs do not come and go while a server runs.
  zstdProgram ??= spawnSync("zstd", ["-V"], { stdio: "ignore" }).status === 0;
  return zstdProgram;
}
