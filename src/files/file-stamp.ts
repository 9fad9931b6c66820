import { stat } from "node:fs/promises";
import { ioError, systemCode } from "./io-error.ts";

/** What tells that a file is another than before. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

/** @throws MM_IO when there is no such file. */
export async function stampOf(path: string): Promise<FileStamp> {
  const { size, mtimeMs, ino } = await stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  return { size, mtimeMs, ino };
}

/** As `stampOf`; undefined when there is no such file. */
export async function stampIfThere(path: string): Promise<FileStamp | undefined> {
  try {
    return await stampOf(path);
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a file is most likely as it was. */
export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino;
}
