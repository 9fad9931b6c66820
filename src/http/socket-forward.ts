import type { IncomingMessage, ServerResponse } from "node:http";
import { connector } from "./connect.ts";
import type { Hop, ResponseHandler } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { HeaderBlock } from "./response-head.ts";
import { sendWhole, type WholeAnswer } from "./send.ts";

/** How long an unused connection is kept. */
const KEPT_MS = 4000;
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
  /** Called with an answer of up to 1 MiB when it is sent. */
  readonly onAnswer?: ((answer: WholeAnswer) => void) | undefined;
}

/**
 * Forwards requests to a server that listens on a socket of this machine.
 *
 * Up to 1 MiB an answer is sent when it is whole: if the other process dies, the client notices
 * nothing. The connection to the client is cut where a longer one ends early.
 */
export class SocketForward {
  readonly #pool: ConnectionPool;
  readonly #timeoutMs: number;

  /** @param options.connections requests under way at once; others wait. */
  constructor(
    socketPath: string,
    { connections, timeoutMs }: { readonly connections: number; readonly timeoutMs: number },
  ) {
    this.#timeoutMs = timeoutMs;
    this.#pool = new ConnectionPool({
      target: { hostname: "localhost", port: 80, isSecure: false },
      host: "localhost",
      connect: connector({ socketPath, timeoutMs }),
      connections,
      maxHeadBytes: 256 * 1024,
      keptMs: KEPT_MS,
      maxKeptMs: KEPT_MS,
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
        new Forwarding(exchange, this.#timeoutMs),
      );
    } catch {
      // What cannot be sent, such as a target that is no target.
      onFailed();
    }
  }

  /** Forwards no more; what is under way ends. */
  close(): void {
    this.#pool.close();
  }
}

/** One request under way. Sockets call it: nothing here throws. */
class Forwarding implements ResponseHandler {
  readonly #exchange: ForwardedExchange;
  #status = 0;
  #fields: string[] = [];
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #hasBegun = false;
  #hop: Hop | undefined;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(exchange: ForwardedExchange, timeoutMs: number) {
    this.#exchange = exchange;
    this.#timeoutMs = timeoutMs;
  }

  get isUnwanted(): boolean {
    return this.#exchange.signal.aborted;
  }

  onConnect(hop: Hop): void {
    const { signal } = this.#exchange;
    this.#hop = hop;
    // It may be sent a second time.
    this.#timer ??= setTimeout(() => this.#hop?.abort(this), this.#timeoutMs);
    if (signal.aborted) hop.abort(this);
    else signal.addEventListener("abort", () => hop.abort(this));
  }

  onHead(status: number, fields: HeaderBlock): void {
    if (status < 200) return;
    this.#status = status;
    for (const [name, value] of fields) {
      if (!OWN_FIELDS.has(name.toLowerCase())) this.#fields.push(name, value);
    }
  }

  onData(chunk: Uint8Array): boolean {
    const { response } = this.#exchange;
    this.#timer?.refresh();
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
    const { response, onAnswer } = this.#exchange;
    clearTimeout(this.#timer);
    if (response.destroyed) return;
    if (this.#hasBegun) {
      response.end();
      return;
    }
    const body = this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held);
    const answer = { status: this.#status, fields: this.#fields, body };
    sendWhole(response, answer);
    onAnswer?.(answer);
  }

  onError(): void {
    const { response, signal, onFailed } = this.#exchange;
    clearTimeout(this.#timer);
    if (signal.aborted || response.destroyed) return;
    if (this.#hasBegun) response.destroy();
    else onFailed();
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#exchange.response.writeHead(this.#status, this.#fields);
  }

  #write(chunk: Uint8Array): boolean {
    const { response } = this.#exchange;
    if (response.write(chunk)) return true;
    response.once("drain", () => this.#hop?.resume(this));
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
