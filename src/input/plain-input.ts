import { open } from "node:fs/promises";
import { LF } from "../bytes/bytes.ts";
import { detectFormat } from "./detect.ts";
import type { DetectedFormat } from "./detect.ts";
import { trustedFormat } from "./key-check.ts";
import type { Part } from "./tasks.ts";
import { ioError } from "../files/io-error.ts";
import { trustIn } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";

const RANGE_BYTES = 1 << 23;
const SAMPLES = 16;
const SAMPLE_BYTES = 1 << 14;

/** An uncompressed index file: cut by offsets only, and read by whoever gets the part. */
export async function openPlain(
  path: string,
  head: Uint8Array,
  size: number,
  options: OpenOptions,
): Promise<IndexInput> {
  const format = detectFormat(head, options.format, path);
  const sample =
    trustIn(path, options) === "auto" ? await sampleLines(path, size) : new Uint8Array(0);
  return plainInput(path, size, trustedFormat(format, sample, trustIn(path, options)));
}

/** As {@link openPlain}, for a format that is known. */
export function plainInput(path: string, size: number, format: DetectedFormat): IndexInput {
  const parts = (): AsyncIterable<Part> => ranges(path, size, format);
  return { source: path, size, isInflated: false, isRanged: true, format, parts };
}

async function* ranges(
  path: string,
  size: number,
  format: DetectedFormat,
): AsyncGenerator<Part, void, undefined> {
  for (let start = 0; start < size; start += RANGE_BYTES) {
    const end = Math.min(start + RANGE_BYTES, size);
    yield { source: path, bytes: end - start, task: { kind: "range", path, start, end, format } };
  }
}

/** Whole lines from places spread evenly over a file. */
async function sampleLines(path: string, size: number): Promise<Uint8Array> {
  try {
    const file = await open(path, "r");
    try {
      const samples: Uint8Array[] = [];
      for (let i = 0; i < SAMPLES; i++) {
        const start = Math.floor((size / SAMPLES) * i);
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(SAMPLE_BYTES),
          0,
          SAMPLE_BYTES,
          start,
        );
        const bytes = buffer.subarray(0, bytesRead);
        // The line that it begins in the middle of may be the last.
        const lineEnd = start === 0 ? -1 : bytes.indexOf(LF);
        if (start > 0 && lineEnd === -1) continue;
        const from = lineEnd + 1;
        const to = start + bytesRead === size ? bytesRead : bytes.lastIndexOf(LF) + 1;
        if (from < to) samples.push(bytes.subarray(from, to), Uint8Array.of(LF));
      }
      return Buffer.concat(samples);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}
