import { closeSync, createReadStream, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { Random } from "../src/bytes/random.ts";

const LF = 0x0a;
/** A bucket is shuffled in memory. */
const BUCKET_BYTES = 2 ** 26;
const WRITE_BYTES = 2 ** 18;

/**
 * Writes the lines of a file in random order, the same for the same seed.
 *
 * Deals the lines out to files beside the target, then shuffles each of those in memory and strings
 * them together, so that files larger than memory can be shuffled.
 */
export async function shuffleLines(
  source: string,
  sourceBytes: number,
  target: string,
): Promise<void> {
  const random = new Random(1, "shuffle");
  const count = Math.ceil(sourceBytes / BUCKET_BYTES);
  const paths = Array.from({ length: count }, (_, i) => `${target}.${i}`);
  const buckets = paths.map((path) => new BufferedFile(path));
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(source, { highWaterMark: 2 ** 22 })) {
    // No encoding is set: chunks are Buffers.
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    let at = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, at)) {
      buckets[random.below(count)].write(bytes.subarray(at, end + 1));
      at = end + 1;
    }
    rest = bytes.subarray(at);
  }
  for (const bucket of buckets) bucket.close();
  const output = new BufferedFile(target);
  for (const path of paths) {
    for (const line of shuffled(linesOf(readFileSync(path)), random)) output.write(line);
    rmSync(path);
  }
  output.close();
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let at = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, at)) {
    lines.push(bytes.subarray(at, end + 1));
    at = end + 1;
  }
  return lines;
}

function shuffled<T>(list: T[], random: Random): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

class BufferedFile {
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(WRITE_BYTES);
  #filled = 0;

  constructor(path: string) {
    this.#file = openSync(path, "w");
  }

  write(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > WRITE_BYTES) this.#flush();
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    for (let at = 0; at < this.#filled;) {
      at += writeSync(this.#file, this.#buffer, at, this.#filled - at);
    }
    this.#filled = 0;
  }
}
