import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { nextTurn } from "./next-turn.ts";
import { type HttpRequest, INTERNAL_ERROR, isWhole, problemReply, type Reply } from "./reply.ts";

/** Adapts a request of `node:http`, or of a framework on top of it. */
export function nodeRequest(
  request: IncomingMessage & { readonly originalUrl?: string },
): HttpRequest {
  const { method = "", headers, httpVersion, socket } = request;
  return {
    method,
    // Express strips its mount path from `url`; `originalUrl` is unchanged.
    target: request.originalUrl ?? request.url ?? "/",
    headers,
    httpVersion,
    protocol: "http",
    remoteAddress: socket.remoteAddress ?? "",
    get isAborted() {
      return request.destroyed && !request.complete;
    },
    body: () => request,
  };
}

/** Pipelined requests of a connection, queued until earlier responses have been sent. */
const WAITING = new WeakMap<Socket, (() => void)[]>();

/**
 * Handles a pipelined request once earlier responses on its connection have been sent, so that each connection has
 * only one response in memory. Until then no further requests are read.
 */
export function inTurn(
  { socket }: IncomingMessage,
  response: ServerResponse,
  answer: () => void,
): void {
  const start = (): void => {
    response.once("close", () => startNext(socket));
    answer();
  };
  const waiting = WAITING.get(socket);
  if (waiting === undefined) {
    WAITING.set(socket, []);
    start();
  } else {
    waiting.push(start);
    socket.pause();
  }
}

function startNext(socket: Socket): void {
  const waiting = WAITING.get(socket) ?? [];
  const next = waiting.shift();
  if (next === undefined || socket.destroyed) {
    WAITING.delete(socket);
    return;
  }
  next();
  if (waiting.length > 0) socket.pause();
  else socket.resume();
}

/** Small enough for a thousand slow readers, large enough to be fast. */
const CHUNK_BYTES = 65_536;
/** A client that reads less than a chunk in this time is disconnected. */
const MAX_CHUNK_MS = 10_000;

/**
 * Sends a reply chunk by chunk, with backpressure.
 *
 * If the body fails midway the connection is closed, so that the client sees an incomplete response.
 *
 * @throws errors of the body, and of Node for invalid headers.
 */
export async function sendReply(
  response: ServerResponse,
  { status, headers, body, release, closesConnection = false }: Reply,
  maxChunkMs: number = MAX_CHUNK_MS,
): Promise<void> {
  try {
    if (closesConnection) response.setHeader("Connection", "close");
    response.writeHead(status, headers);
    if (body === undefined || (isWhole(body) && body.length <= CHUNK_BYTES)) {
      response.end(body);
      return;
    }
    for await (const chunk of isWhole(body) ? chunksOf(body) : body) {
      if (!(await writeChunk(response, chunk, maxChunkMs))) return;
      await nextTurn();
    }
    response.end();
  } catch (error) {
    if (response.headersSent) response.destroy();
    else await sendReply(response, problemReply(INTERNAL_ERROR));
    throw error;
  } finally {
    await release?.();
  }
}

function* chunksOf(body: string | Uint8Array): Generator<Uint8Array, void, undefined> {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
}

/** Writes a chunk and waits until it is flushed; false if the client has disconnected. */
function writeChunk(response: ServerResponse, chunk: Uint8Array, maxMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isWritten: boolean): void => {
      clearTimeout(timer);
      response.off("close", gone);
      resolve(isWritten && !response.destroyed);
    };
    const gone = (): void => end(false);
    const timer = setTimeout(() => response.destroy(), maxMs);
    if (response.destroyed) {
      gone();
      return;
    }
    response.once("close", gone);
    response.write(chunk, () => end(true));
  });
}
