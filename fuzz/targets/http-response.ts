import { parseResponseHead } from "../../src/http/response-head.ts";
import { FAULT } from "../../src/http/http-fault.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds:
    "fields are the lines, found by name, with no line end in them; a length is a number and the only end",
  seeds: () => [
    "HTTP/1.1 200 OK\r\nContent-Type: application/link-format\r\nContent-Length: 120\r\nConnection: keep-alive\r\n",
    "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: identity, chunked\r\nKeep-Alive: timeout=5, max=100\r\n",
    "HTTP/1.0 302 Found\r\nLocation: http://a.example/\r\nSet-Cookie: a=b\r\nset-cookie: c=d\r\n",
    "HTTP/1.1 304 \r\nVary: accept-encoding,\r\n\taccept-datetime\r\n",
  ],
  words: [
    "\r\n",
    "\r\n ",
    ":",
    "HTTP/1.1 ",
    "Content-Length: ",
    "Transfer-Encoding: chunked",
    "Connection: close",
    "Keep-Alive: timeout=",
    "\u0000",
    "\u00ff",
  ],
  run(input) {
    const head = headOf(latin1(input));
    if (head === undefined) return;
    const { status, fields, bodyEnd, length } = head;
    must(status >= 100 && status <= 999, "a status", status);
    must(bodyEnd !== "length" || length >= 0, "a length", length);
    let lines = 0;
    const names = new Set<string>();
    for (const [name, value] of fields) {
      lines++;
      must(!/[\r\n]/.test(name + value), "a line", name + value);
      if (names.has(name) || names.size > MOST_NAMES) continue;
      names.add(name);
      const all = fields.joined(name.toLowerCase()) ?? "";
      must(all.split(", ").includes(value) || all.includes(value), "a field by its name", name);
      must(all.startsWith(fields.first(name.toLowerCase()) ?? "\n"), "the first of them", name);
    }
    must(lines === fields.text.split("\r\n").length - 1, "a field for each line", lines);
  },
};

/** To look for all of a thousand names takes long. */
const MOST_NAMES = 50;

function headOf(text: string): ReturnType<typeof parseResponseHead> | undefined {
  // A connection hands on whole lines, up to the empty one.
  const end = text.indexOf("\r\n\r\n");
  const lines = end === -1 ? text.slice(0, text.lastIndexOf("\r\n") + 2) : text.slice(0, end + 2);
  if (!lines.includes("\r\n")) return undefined;
  try {
    return parseResponseHead(lines, "GET");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === FAULT.badHttp) return undefined;
    throw error;
  }
}
