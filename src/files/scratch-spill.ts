import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { ioError } from "./io-error.ts";

/** Random-access storage outside memory, such as a scratch file. */
export interface SpillStore {
  write(offset: number, bytes: Uint8Array): void;
  read(offset: number, target: Uint8Array): void;
}

/** A spill store in a scratch file, which is made when it is first needed. */
export class ScratchSpill implements SpillStore {
  readonly #path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  write(offset: number, bytes: Uint8Array): void {
    try {
      this.#file ??= openSync(this.#path, "wx+");
      for (let at = 0; at < bytes.length;) {
        at += writeSync(this.#file, bytes, at, bytes.length - at, offset + at);
      }
    } catch (error) {
      throw ioError(error, this.#path);
    }
  }

  read(offset: number, target: Uint8Array): void {
    if (this.#file === undefined) throw new Error("nothing was spilled");
    for (let at = 0; at < target.length;) {
      const read = readSync(this.#file, target, at, target.length - at, offset + at);
      if (read === 0) throw new Error("the spill file is shorter than what was written to it");
      at += read;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
