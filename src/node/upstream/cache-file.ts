import { crc32 } from "node:zlib";
import type { CachedAnswer } from "./cached-answer.ts";

/*
 * A kept answer as a file:
 *
 *     mementomap-answer 1 <bytes of head> <bytes of body> <CRC-32 of both, 8 hex digits>\n
 *     <head: JSON><body: bytes>
 */
const FIRST_LINE = /^mementomap-answer 1 (\d+) (\d+) ([\da-f]{8})\n/;
const MOST_OF_FIRST_LINE = 80;

/** The parts of a file, to be written one after the other. */
export function encodeCacheFile(key: string, answer: CachedAnswer): Uint8Array[] {
  const { receivedAt, status, url, headers, requestHeaders, body } = answer;
  const fields = { key, receivedAt, status, url, headers, requestHeaders };
  const head = Buffer.from(JSON.stringify(fields));
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
  // Our own file, and its sum is right.
  const { key: kept, ...head } = JSON.parse(bytes.toString("utf8", headStart, headEnd)) as Omit<
    CachedAnswer,
    "body"
  > & { key: string };
  return kept === key ? { ...head, body: bytes.subarray(headEnd) } : undefined;
}
