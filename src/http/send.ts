import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { sourceChunks } from "../bytes/byte-source.ts";
import { judgeConditions, judgeRange } from "./preconditions.ts";
import { sendProblem } from "./problem.ts";
import type { Representation } from "./representation.ts";

/** Small enough that a thousand slow readers hold little, large enough to be quick. */
const CHUNK_BYTES = 65_536;

/**
 * Answers a GET or HEAD with a representation: whole, in part (206), or not at all (304, 412, 416).
 *
 * Holds one chunk; waits for the reader after each. When the source fails in the middle the
 * connection is cut, so that the client sees that the content is not complete.
 */
export async function sendRepresentation(
  request: IncomingMessage,
  response: ServerResponse,
  found: Representation,
  more: OutgoingHttpHeaders = {},
): Promise<void> {
  const isHead = request.method === "HEAD";
  const about = aboutHeaders(found, more);
  const outcome = judgeConditions(request.headers, found);
  if (outcome === "precondition-failed") {
    sendProblem(
      response,
      { status: 412, title: "Precondition failed", detail: "the map has changed; get it anew" },
      isHead,
    );
    return;
  }
  if (outcome === "not-modified") {
    response.writeHead(304, about);
    response.end();
    return;
  }
  const range = isHead ? "whole" : judgeRange(request.headers, found);
  const { size } = found.body;
  if (range === "unsatisfiable") {
    const detail = `there are ${size} bytes`;
    const headers = { "Content-Range": `bytes */${size}` };
    sendProblem(response, { status: 416, title: "Range not satisfiable", detail, headers }, isHead);
    return;
  }
  const { start, end } = range === "whole" ? { start: 0, end: size } : range;
  response.writeHead(range === "whole" ? 200 : 206, {
    ...about,
    "Content-Type": found.contentType,
    "Content-Length": end - start,
    ...(found.encoding === undefined ? {} : { "Content-Encoding": found.encoding }),
    ...(range === "whole" ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${size}` }),
  });
  if (isHead) {
    response.end();
    return;
  }
  const chunks = sourceChunks(found.body, { start, end, chunkBytes: CHUNK_BYTES });
  for await (const chunk of chunks) {
    if (!(await writeBlock(response, chunk))) return;
  }
  response.end();
}

/** Writes a block and waits until there is room for more; false when the reader has gone. */
export async function writeBlock(response: ServerResponse, block: Uint8Array): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(block)) return true;
  const gone = new AbortController();
  try {
    await Promise.race([
      once(response, "drain", { signal: gone.signal }),
      once(response, "close", { signal: gone.signal }),
    ]);
  } finally {
    gone.abort();
  }
  return !response.destroyed;
}

function aboutHeaders(found: Representation, more: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return {
    ETag: found.etag,
    "Last-Modified": found.lastModified.toUTCString(),
    "Accept-Ranges": "bytes",
    Vary: "Accept-Encoding",
    ...more,
  };
}
