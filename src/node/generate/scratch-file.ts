import { closeSync, openSync, writeSync } from "node:fs";
import { ioError } from "../io-error.ts";

/** Writes a scratch file; it is for this run only, so nothing is flushed to the disk. */
export function writingTo(path: string, use: (write: (block: Uint8Array) => void) => void): void {
  try {
    const file = openSync(path, "wx");
    try {
      use((block) => {
        for (let at = 0; at < block.length;) at += writeSync(file, block, at);
      });
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}
