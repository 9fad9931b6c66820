import { asError } from "../errors.ts";
import type { Socket } from "node:net";
import type { Connect, ConnectTarget } from "./connect.ts";
import {
  Connection,
  type ConnectionOwner,
  type ResponseHandler,
  type Sending,
} from "./connection.ts";
import { FAULT, httpFault } from "./http-fault.ts";

export interface PoolOptions {
  readonly target: ConnectTarget;
  /** The value of `Host`. */
  readonly host: string;
  readonly connect: Connect;
  /** At once, at most; other requests wait. */
  readonly connections: number;
  readonly maxHeadBytes: number;
  /** How long an unused connection is kept where the server does not say, and where it does, at most. */
  readonly keptMs: number;
  readonly maxKeptMs: number;
}

/** A request without a body. */
export interface PoolRequest {
  readonly method: "GET" | "HEAD";
  /** The target as it is sent; characters stand for bytes. */
  readonly path: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const TARGET = /^[\u0021-\u007e\u0080-\u00ff]+$/;
/** About the connection, or about a body: these are not for requests to say. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);
/** A server that closes unused connections after so long may do it just before. */
const EARLIER_MS = 1000;
/** How often unused connections are looked at. */
const LOOK_MS = 1000;

interface Unused {
  readonly connection: Connection;
  readonly until: number;
}

/**
 * Connections to one server, which are kept for the next request.
 *
 * The one that was used last is used next, so that those that are not needed come to their end.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #all = new Set<Connection>();
  readonly #sockets = new Set<Socket>();
  #unused: Unused[] = [];
  #waiting: Sending[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;
  /** Headers that were checked: most requests have the same ones. */
  #checked: readonly string[] | undefined;
  #checkedText = "";

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @throws where a header or the path cannot be sent, and after `close` */
  dispatch({ method, path, headers }: PoolRequest, handler: ResponseHandler): void {
    if (this.#isClosing) throw closed();
    if (!TARGET.test(path)) throw httpFault("the path cannot be sent", FAULT.badRequest);
    const head = `${method} ${path} HTTP/1.1\r\n${this.#fieldsOf(headers)}\r\n`;
    this.#send({ request: { method, head }, handler });
  }

  /** Whether nothing is under way, and nothing kept. */
  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** Takes no more requests; those under way and waiting still end. */
  close(): void {
    this.#isClosing = true;
    this.#closeUnused(Infinity);
  }

  /** Ends everything at once. */
  async destroy(): Promise<void> {
    this.#isClosing = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    const ended = Array.from(this.#sockets, (socket) => closeOf(socket));
    for (const connection of this.#all) connection.destroy(closed());
    for (const { handler } of waiting) handler.onError(closed());
    await Promise.all(ended);
  }

  onFree(connection: Connection, keptMs: number | undefined): void {
    for (let next = this.#nextWaiting(); next !== undefined; next = this.#nextWaiting()) {
      if (connection.send(next)) return;
    }
    const { keptMs: usual, maxKeptMs } = this.#options;
    const ms = keptMs === undefined ? usual : Math.min(maxKeptMs, keptMs - EARLIER_MS);
    if (this.#isClosing || ms <= 0) {
      connection.destroy();
      return;
    }
    connection.rest();
    this.#unused.push({ connection, until: performance.now() + ms });
    this.#timer ??= setInterval(() => this.#closeUnused(performance.now()), LOOK_MS).unref();
  }

  onGone(connection: Connection, again: Sending | undefined): void {
    this.#all.delete(connection);
    const at = this.#unused.findIndex((one) => one.connection === connection);
    if (at !== -1) this.#unused.splice(at, 1);
    if (again !== undefined) this.#waiting.unshift(again);
    const next = this.#nextWaiting();
    if (next !== undefined) this.#open(next);
  }

  /** No connection is made for what nobody wants: where none can be made, it would be tried for each of them. */
  #nextWaiting(): Sending | undefined {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!next.handler.isUnwanted) return next;
      next.handler.onError(httpFault("the request was ended", FAULT.aborted));
    }
    return undefined;
  }

  #send(sending: Sending): void {
    const unused = this.#unused.pop();
    if (unused !== undefined) {
      if (!unused.connection.send(sending)) this.#unused.push(unused);
    } else if (this.#all.size < this.#options.connections) {
      this.#open(sending);
    } else {
      this.#waiting.push(sending);
    }
  }

  #open(sending: Sending): void {
    const { target, connect, maxHeadBytes } = this.#options;
    const connection = new Connection(this, maxHeadBytes);
    this.#all.add(connection);
    connection.expect(sending);
    try {
      connect(target, connection.onread, (error, socket) => {
        if (socket === undefined) {
          connection.fail(error ?? new Error("there is no connection"));
          return;
        }
        this.#sockets.add(socket);
        socket.once("close", () => this.#sockets.delete(socket));
        connection.open(socket);
      });
    } catch (error) {
      connection.fail(asError(error));
    }
  }

  #closeUnused(now: number): void {
    const over = this.#unused.filter(({ until }) => until <= now);
    if (over.length > 0) this.#unused = this.#unused.filter(({ until }) => until > now);
    for (const { connection } of over) connection.destroy();
    if (this.#unused.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #fieldsOf(headers: readonly string[]): string {
    if (headers === this.#checked) return this.#checkedText;
    let host = `host: ${this.#options.host}\r\n`;
    let fields = "";
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const [name, value] = [headers[at], headers[at + 1]];
      if (!TOKEN.test(name) || !VALUE.test(value) || NOT_SENT.has(name.toLowerCase())) {
        throw httpFault(`the header ${name} cannot be sent`, FAULT.badRequest);
      }
      if (name.toLowerCase() === "host") host = `host: ${value}\r\n`;
      else fields += `${name}: ${value}\r\n`;
    }
    this.#checked = headers;
    this.#checkedText = `${host}connection: keep-alive\r\n${fields}`;
    return this.#checkedText;
  }
}

function closed(): Error {
  return httpFault("the connections are closed", FAULT.closed);
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}
