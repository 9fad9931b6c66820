import { open } from "node:fs/promises";
import { ioError, MementoMapError } from "../errors.ts";
import { LF, recognizeCompression } from "../bytes/bytes.ts";
import { decompressed } from "../files/decompress.ts";
import { compressedInput, openCompressed, openPlain, plainInput } from "./file-inputs.ts";
import type { IndexInput, OpenOptions, Part, Split } from "./index-input.ts";
import { fileChunks } from "./read-file.ts";

/**
 * Opens a part of an index of lines, which others read the rest of.
 *
 * The format is that of the whole file, and so is the number of a line in messages: the lines before the
 * split are counted where one is bad.
 *
 * @throws MM_USAGE for what is not an index of lines, or a split that the file does not have; MM_IO
 */
export async function openSplit(
  path: string,
  head: Uint8Array,
  size: number,
  options: OpenOptions & { readonly split: Split },
): Promise<IndexInput> {
  const { start } = options.split;
  const end = Math.min(options.split.end, size);
  if (start > end)
    throw misplaced(path, `begins behind the end of the file, which has ${size} bytes`);
  if (recognizeCompression(head) === undefined) {
    const { format } = await openPlain(path, head, size, options);
    if (format.name === "captures") throw notLines(path);
    return counted(plainInput(path, size, format, { start, end }), path, start, "lines");
  }
  const { format } = await openCompressed({ path, source: path, size }, options);
  if (format.name === "captures") throw notLines(path);
  if (start < end && !((await isMember(path, start)) && (await isMember(path, end, size)))) {
    throw misplaced(path, "must begin and end with a gzip member");
  }
  const slice = { offset: start, length: end - start };
  const input = compressedInput({ path, source: path, size: slice.length, slice }, format, options);
  return counted(input, path, start, "members");
}

function counted(
  input: IndexInput,
  path: string,
  start: number,
  unit: "lines" | "members",
): IndexInput {
  if (start === 0) return input;
  const linesBefore = (): Promise<number> => countLines(path, start, unit);
  return {
    ...input,
    async *parts(isAlone): AsyncGenerator<Part, void, undefined> {
      for await (const part of input.parts(isAlone)) yield { ...part, linesBefore };
    },
  };
}

/** How many lines begin before an offset. */
async function countLines(path: string, start: number, unit: "lines" | "members"): Promise<number> {
  // A line that ends right before the offset is the last one; so is one that the offset is in.
  const length = unit === "lines" ? start - 1 : start;
  let lines = unit === "lines" ? 1 : 0;
  const stored = fileChunks({ path, source: path, slice: { offset: 0, length } });
  for await (const chunk of decompressed(stored, { source: path })) {
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines++;
  }
  return lines;
}

/** @param size given where the end of the file will do, too. */
async function isMember(path: string, offset: number, size?: number): Promise<boolean> {
  if (offset === size) return true;
  try {
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, offset);
      return recognizeCompression(buffer.subarray(0, bytesRead)) !== undefined;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

function notLines(source: string): MementoMapError {
  const message = "only an index of lines can be read in splits; read this file whole";
  return new MementoMapError("MM_USAGE", message, { position: { source } });
}

function misplaced(source: string, why: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `the split ${why}`, { position: { source } });
}
