import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { nextTurn } from "./next-turn.ts";
import { type HttpRequest, INTERNAL_ERROR, isWhole, problemReply, type Reply } from "./reply.ts";

/** A request of `node:http`, or of a framework on top of it. */
export function nodeRequest(
  request: IncomingMessage & { readonly originalUrl?: string },
): HttpRequest {
  const { method = "", headers, httpVersion, socket } = request;
  return {
    method,
    // Express takes its mount path off `url`, and keeps what was sent in `originalUrl`.
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

/** Pipelined requests of a connection that wait for the responses before theirs. */
const WAITING = new WeakMap<Socket, (() => void)[]>();

/**
 * Starts to answer a request once the responses before it on its connection have been sent, so that a
 * connection has one response in memory. Until then no more requests are read from it.
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

/** Small enough that a thousand slow readers hold little, large enough to be quick. */
const CHUNK_BYTES = 65_536;
/** A reader that takes less than a chunk in this time is disconnected. */
const MAX_CHUNK_MS = 10_000;

/**
 * Sends a reply, a chunk at a time; waits for the reader after each.
 *
 * When the body fails in the middle the connection is cut, so that the client sees that the content is
 * not complete.
 *
 * @throws what making the body throws, and what Node says about headers that cannot be sent.
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
      if (!(await isTaken(response, chunk, maxChunkMs))) return;
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

/** Writes a chunk and waits until it has left the process; false when the reader has gone. */
function isTaken(response: ServerResponse, chunk: Uint8Array, maxMs: number): Promise<boolean> {
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
