import type { CachedAnswer } from "./cached-answer.ts";

/*
 * All about a kept answer but its body, in lines. Every character stands for a byte: addresses and
 * headers come from and go to the network as bytes, and have no line ends.
 *
 *     <key, of two lines; the second is the address that was asked for>
 *     <status> <received at>
 *     <address the answer came from, or nothing where it is the same>
 *     <number of request headers>
 *     <request headers, a line each: Name: value, CR>
 *     <headers, the same>
 */

/** A head with the key it is kept by. */
export interface KeptHead {
  readonly key: string;
  readonly answer: Omit<CachedAnswer, "body">;
}

export function encodeHead(key: string, answer: CachedAnswer): string {
  const { receivedAt, status, url, headerBlock, requestHeaders } = answer;
  const place = key.endsWith(`\n${url}`) ? "" : url;
  let asked = "";
  let count = 0;
  for (const name of Object.keys(requestHeaders)) {
    asked += `${name}: ${requestHeaders[name]}\r\n`;
    count += 1;
  }
  return `${key}\n${status} ${receivedAt}\n${place}\n${count}\n${asked}${headerBlock}`;
}

/** The opposite of `encodeHead`. */
export function decodeHead(text: string): KeptHead {
  const lines = text.split("\n", 5);
  const [keyStart, keyEnd, numbers, place, count] = lines;
  const [status, receivedAt] = numbers.split(" ", 2);
  const from = lines.reduce((length, line) => length + line.length + 1, 0);
  let cut = from;
  for (let line = 0; line < Number(count); line++) cut = text.indexOf("\n", cut) + 1;
  return {
    key: `${keyStart}\n${keyEnd}`,
    answer: {
      receivedAt: Number(receivedAt),
      status: Number(status),
      url: place === "" ? keyEnd : place,
      requestHeaders: headersOfBlock(text.slice(from, cut)),
      headerBlock: text.slice(cut),
    },
  };
}

/**
 * Headers by their lower-case names, from lines as they are sent. Fields of one name are joined by
 * commas.
 */
export function headersOfBlock(block: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of block.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon === -1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
}
