import type { CachedAnswer } from "./cached-answer.ts";

/*
 * All about a kept answer but its body, in lines. Every character stands for a byte: addresses and
 * headers come from and go to the network as bytes, and have no line ends.
 *
 *     <key, of two lines>
 *     <status> <received at>
 *     <address>
 *     <number of lines of request headers>
 *     <request headers: name, line, value, line>
 *     <headers: name, line, value, line>
 */

/** A head with the key it is kept by. */
export interface KeptHead {
  readonly key: string;
  readonly answer: Omit<CachedAnswer, "body">;
}

export function encodeHead(key: string, answer: CachedAnswer): string {
  const { receivedAt, status, url, headerLines } = answer;
  let asked = "";
  let lines = 0;
  for (const [name, value] of Object.entries(answer.requestHeaders)) {
    asked += `${name}\n${value}\n`;
    lines += 2;
  }
  return `${key}\n${status} ${receivedAt}\n${url}\n${lines}\n${asked}${headerLines}`;
}

/** The opposite of `encodeHead`. */
export function decodeHead(text: string): KeptHead {
  const lines = text.split("\n", 5);
  const [keyStart, keyEnd, numbers, url, count] = lines;
  const [status, receivedAt] = numbers.split(" ", 2);
  const from = lines.reduce((length, line) => length + line.length + 1, 0);
  const rest = text.slice(from);
  let cut = 0;
  for (let line = 0; line < Number(count); line++) cut = rest.indexOf("\n", cut) + 1;
  return {
    key: `${keyStart}\n${keyEnd}`,
    answer: {
      receivedAt: Number(receivedAt),
      status: Number(status),
      url,
      requestHeaders: headersOfLines(rest.slice(0, cut)),
      headerLines: rest.slice(cut),
    },
  };
}

/** Headers from lines of names and values by turns. Fields of one name are joined by commas. */
export function headersOfLines(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  const lines = text.split("\n");
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const name = lines[at].toLowerCase();
    const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
    headers[name] = earlier === undefined ? lines[at + 1] : `${earlier}, ${lines[at + 1]}`;
  }
  return headers;
}
