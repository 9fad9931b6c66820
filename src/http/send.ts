import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type HttpRequest, type Problem, problemReply, type Reply } from "./reply.ts";

/** A request of `node:http`, or of a framework on top of it. */
export class NodeRequest implements HttpRequest {
  readonly protocol = "http";
  readonly target: string;
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage & { readonly originalUrl?: string }) {
    this.#request = request;
    // Express takes its mount path off `url`, and keeps what was sent in `originalUrl`.
    this.target = request.originalUrl ?? request.url ?? "/";
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get httpVersion(): string {
    return this.#request.httpVersion;
  }

  get remoteAddress(): string {
    return this.#request.socket.remoteAddress ?? "";
  }

  get isAborted(): boolean {
    return this.#request.destroyed && !this.#request.complete;
  }

  body(): AsyncIterable<Uint8Array> {
    return this.#request;
  }
}

/** An answer that is whole. */
export interface WholeAnswer {
  readonly status: number;
  /** Names and values by turns, without what Node writes itself. */
  readonly fields: readonly string[];
  readonly body: string | Uint8Array;
}

/** Sends an answer, as {@link endSoon} does. */
export function sendWhole(response: ServerResponse, { status, fields, body }: WholeAnswer): void {
  response.writeHead(status, [...fields]);
  endSoon(response, body);
}

/** Responses that have a head, and the rest of them. */
let unsent: { readonly response: ServerResponse; readonly body: WholeAnswer["body"] }[] = [];

/**
 * Ends a response at the end of this turn of the event loop, together with the others of it. A client or a proxy on this
 * machine is woken once for all of them, and not for each.
 */
function endSoon(response: ServerResponse, body: WholeAnswer["body"]): void {
  if (unsent.push({ response, body }) === 1) setImmediate(endUnsent);
}

function endUnsent(): void {
  const all = unsent;
  unsent = [];
  for (const { response, body } of all) {
    try {
      response.end(body);
    } catch {
      // A framework that wraps responses may throw; the others are to be ended all the same.
      response.destroy();
    }
  }
}

/**
 * Sends a reply. The promise is there only if the reply takes more than one step.
 *
 * Holds one chunk; waits for the reader after each. When the body fails in the middle the connection
 * is cut, so that the client sees that the content is not complete.
 */
export function sendReply(response: ServerResponse, reply: Reply): void | Promise<void> {
  const { status, headers, body, release } = reply;
  if (reply.closesConnection === true) response.setHeader("Connection", "close");
  response.writeHead(status, headers);
  if (typeof body === "object") return sendChunks(response, body, release);
  endSoon(response, body ?? "");
  return release?.();
}

async function sendChunks(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  release: Reply["release"],
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await flushed(response, chunk);
      if (response.destroyed) return;
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    await release?.();
  }
}

/** Writes a chunk and waits until it has left the process, or the reader has gone. */
function flushed(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) {
      resolve();
      return;
    }
    response.once("close", resolve);
    response.write(chunk, () => {
      response.off("close", resolve);
      resolve();
    });
  });
}

/** Writes a block and waits until there is room for more; false when the reader has gone. */
export async function writeBlock(response: ServerResponse, block: Uint8Array): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(block)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
  return !response.destroyed;
}

/** Answers with a problem document; does nothing but end a response that has begun already. */
export function sendProblem(response: ServerResponse, problem: Problem, isHead: boolean): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = problemReply(problem);
  response.writeHead(status, headers);
  response.end(isHead ? undefined : body);
}
