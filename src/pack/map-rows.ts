import { closeSync, openSync } from "node:fs";
import {
  CLOSE_PAREN,
  COMMA,
  DELETE,
  LF,
  OPEN_BRACE,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
} from "../bytes/bytes.ts";
import { ioError } from "../errors.ts";
import { type Fields, startsHeader } from "../ukvs/header.ts";
import { plainFrequencyEnd } from "../ukvs/row.ts";
import { MapLines, type RowSink } from "../compact/map-lines.ts";
import { blockBytesFor, readBlocks, tooLong } from "./line-blocks.ts";

/** A part of an uncompressed map file that begins and ends at line ends. */
export interface MapPart {
  readonly path: string;
  /** Named in errors. */
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** Takes rows of a map: plain ones where they are, others as {@link MapLines} reads them. */
export interface PlainRowSink extends RowSink {
  /**
   * Takes the row that begins at `start`; returns where the next one begins, or 0 for a row that is
   * not plain. `end` is that of the bytes, which end with a line.
   */
  takePlain(bytes: Uint8Array, start: number, end: number): number;
}

/** Reads a part once, a block at a time. Lines in errors are counted from the start of the part. */
export function readMapRows(part: MapPart, fields: Fields, sink: PlainRowSink): MapLines {
  const { source } = part;
  const file = openFile(part.path);
  try {
    const lines = new MapLines(sink, fields);
    const mayBePlain = fields.keys.length === 1 && fields.values.length === 1;
    const block = new Uint8Array(blockBytesFor(part));
    readBlocks(file, part, block, (length, isWhole) => {
      if (!isWhole) throw tooLong(source, lines.lines + 1);
      for (let at = 0; at < length;) {
        const next = mayBePlain ? sink.takePlain(block, at, length) : 0;
        if (next > 0) {
          lines.skip(1);
          at = next;
          continue;
        }
        const feed = block.indexOf(LF, at);
        const end = feed === -1 || feed >= length ? length : feed + 1;
        lines.read(block.subarray(at, end), { source, firstLine: 1 });
        at = end;
      }
      return true;
    });
    return lines;
  } finally {
    closeSync(file);
  }
}

export function openFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Whether a row may begin so, and be in the form of writers. */
export function startsPlain(byte: number): boolean {
  return isPlain(byte) && !startsHeader(byte) && byte !== QUOTE && byte !== OPEN_BRACE;
}

function isPlain(byte: number): boolean {
  return byte > SPACE && byte < DELETE && byte !== STAR;
}

/** The end of the key of a row that is in the form of writers; where a closer look is needed, 0. */
export function plainKeyEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isPlain(bytes[at])) at++;
  if (bytes[at] === STAR && (bytes[at - 1] === SLASH || bytes[at - 1] === COMMA)) at++;
  return bytes[at] === SPACE ? at : 0;
}

/** The end of the frequency behind such a key and of the row; where a closer look is needed, 0. */
export function plainRowEnd(bytes: Uint8Array, keyEnd: number, end: number): number {
  // A home page without its slash is another spelling.
  if (bytes[keyEnd] !== SPACE || bytes[keyEnd - 1] === CLOSE_PAREN) return 0;
  const at = plainFrequencyEnd(bytes, keyEnd + 1, end);
  return at !== -1 && at < end && bytes[at] === LF ? at : 0;
}
