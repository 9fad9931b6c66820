import type { IncomingMessage, ServerResponse } from "node:http";
import { type Dispatcher, Pool } from "undici";

/** An answer up to this size is sent only when all of it is there. */
const HELD_BYTES = 1024 * 1024;
/** About a connection, and not about what goes over it. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** What Node writes into each answer itself. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

/** A request to be forwarded, and where its answer goes. */
export interface ForwardedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sent besides the headers of the request: names in lower case, and values, by turns. */
  readonly headers: readonly string[];
  /** Aborted when the client has gone. */
  readonly signal: {
    readonly aborted: boolean;
    addEventListener(type: "abort", listener: () => void): void;
  };
  /** Called instead of an answer when there is none, and the client has nothing yet. */
  readonly onFailed: () => void;
}

/**
 * Forwards requests to a server that listens on a socket of this machine.
 *
 * Up to 1 MiB an answer is sent when it is whole: if the other process dies, the client notices
 * nothing. The connection to the client is cut where a longer one ends early.
 */
export class SocketForward {
  readonly #pool: Pool;

  /** @param options.connections requests under way at once; others wait. */
  constructor(
    socketPath: string,
    { connections, timeoutMs }: { readonly connections: number; readonly timeoutMs: number },
  ) {
    this.#pool = new Pool("http://localhost", {
      socketPath,
      connections,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: 256 * 1024,
    });
  }

  forward(exchange: ForwardedExchange): void {
    const { request, onFailed } = exchange;
    try {
      this.#pool.dispatch(
        {
          path: request.url ?? "/",
          method: request.method === "HEAD" ? "HEAD" : "GET",
          headers: forwardedFields(request.rawHeaders, exchange.headers),
        },
        new Forwarding(exchange),
      );
    } catch {
      // What cannot be sent, such as a target that is no target.
      onFailed();
    }
  }

  /** Forwards no more; what is under way ends. */
  close(): void {
    this.#pool.close().catch(() => undefined);
  }
}

/** One request under way, as a handler of undici. Sockets call it: nothing here throws. */
class Forwarding implements Dispatcher.DispatchHandler {
  readonly #exchange: ForwardedExchange;
  #status = 0;
  #fields: string[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  #hasBegun = false;
  #resume: (() => void) | undefined;

  constructor(exchange: ForwardedExchange) {
    this.#exchange = exchange;
  }

  onConnect(abort: (error?: Error) => void): void {
    const { signal } = this.#exchange;
    if (signal.aborted) abort();
    else signal.addEventListener("abort", () => abort());
  }

  onHeaders(status: number, fields: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.#status = status;
    this.#resume = resume;
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const name = fields[at].toString("latin1");
      if (!OWN_FIELDS.has(name.toLowerCase())) {
        this.#fields.push(name, fields[at + 1].toString("latin1"));
      }
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    const { response } = this.#exchange;
    if (response.destroyed) return true;
    if (this.#hasBegun) return this.#write(chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= HELD_BYTES) return true;
    this.#begin();
    const held = Buffer.concat(this.#held);
    this.#held = [];
    return this.#write(held);
  }

  onComplete(): void {
    const { response } = this.#exchange;
    if (response.destroyed) return;
    if (!this.#hasBegun) this.#begin();
    const [only] = this.#held;
    response.end(this.#held.length > 1 ? Buffer.concat(this.#held) : only);
  }

  onError(): void {
    const { response, signal, onFailed } = this.#exchange;
    if (signal.aborted || response.destroyed) return;
    if (this.#hasBegun) response.destroy();
    else onFailed();
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#exchange.response.writeHead(this.#status, this.#fields);
  }

  #write(chunk: Buffer): boolean {
    const { response } = this.#exchange;
    if (response.write(chunk)) return true;
    response.once("drain", () => this.#resume?.());
    return false;
  }
}

function forwardedFields(raw: readonly string[], more: readonly string[]): string[] {
  const fields = [...more];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at].toLowerCase();
    if (!HOP_BY_HOP.has(name) && !more.includes(name)) fields.push(name, raw[at + 1]);
  }
  return fields;
}
