import { closeSync, openSync, writeSync } from "node:fs";
import { ioError } from "../../files/io-error.ts";

/** Where rows are written. */
export interface RowsTarget {
  readonly path: string;
  /** Where to begin in a file that exists; a new file is made without it. */
  readonly offset?: number | undefined;
  /** What to call it in errors; its path by default. */
  readonly name?: string | undefined;
}

/** Writes a scratch file, or a stretch of a file; nothing is flushed to the disk here. */
export function writingTo(
  { path, offset, name = path }: RowsTarget,
  use: (write: (block: Uint8Array) => void) => void,
): void {
  try {
    const file = openSync(path, offset === undefined ? "wx" : "r+");
    let position = offset ?? 0;
    try {
      use((block) => {
        for (let at = 0; at < block.length;) {
          const written = writeSync(file, block, at, block.length - at, position);
          at += written;
          position += written;
        }
      });
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, name);
  }
}
