import { crc32 } from "node:zlib";
import type { CachedAnswer } from "./cached-answer.ts";
import { decodeHead, encodeHead } from "./cached-head.ts";

/*
 * A kept answer as a file:
 *
 *     mementomap-answer 1 <bytes of head> <bytes of body> <CRC-32 of both, 8 hex digits>\n
 *     <head: see cached-head.ts><body>
 */
const FIRST_LINE = /^mementomap-answer 1 (\d+) (\d+) ([\da-f]{8})\n/;
const MOST_OF_FIRST_LINE = 80;

/** The parts of a file, to be written one after the other. */
export function encodeCacheFile(key: string, answer: CachedAnswer): Uint8Array[] {
  const { body } = answer;
  const head = Buffer.from(encodeHead(key, answer), "latin1");
  const sum = crc32(body, crc32(head)).toString(16).padStart(8, "0");
  const first = `mementomap-answer 1 ${head.length} ${body.byteLength} ${sum}\n`;
  return [Buffer.from(first), head, body];
}

/** What a file holds for a key; undefined if it is damaged, cut short, or of another key. */
export function decodeCacheFile(key: string, bytes: Buffer): CachedAnswer | undefined {
  const match = FIRST_LINE.exec(bytes.toString("latin1", 0, MOST_OF_FIRST_LINE));
  if (match === null) return undefined;
  const headStart = match[0].length;
  const headEnd = headStart + Number(match[1]);
  if (bytes.length !== headEnd + Number(match[2])) return undefined;
  if (crc32(bytes.subarray(headStart)) !== Number.parseInt(match[3], 16)) return undefined;
  const head = decodeHead(bytes.toString("latin1", headStart, headEnd));
  return head.key === key ? { ...head.answer, body: bytes.subarray(headEnd) } : undefined;
}
