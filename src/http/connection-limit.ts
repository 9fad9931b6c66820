import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { reserveFiles, roomForFiles } from "../files/open-files.ts";

/** Files that are kept for everything else, if that is less than half of them. */
const KEPT_FILES = 1024;

/**
 * Limits the connections of a server, to less than there are files.
 *
 * When there are too many, the one that has been without a complete request for longest is closed, so
 * that a client that opens all of them keeps nobody out. Where all have requests in progress, a request
 * on one that came too late gets 503; some more are taken for that, and others closed at once.
 * `maxConnections` would close all of them without an answer.
 */
export class ConnectionLimit {
  readonly #most: number;
  readonly #open = new Set<Socket>();
  /** Connections within the limit that have no request in progress; the longest idle is first. */
  readonly #idle = new Set<Socket>();
  /** Connections that came when all others had requests in progress. */
  readonly #late = new WeakSet<Socket>();

  constructor(server: Server, most: number) {
    const room = roomForFiles();
    const files = room - Math.min(room / 2, KEPT_FILES);
    this.#most = Math.max(1, Math.min(most, files / 1.25 - 1));
    reserveFiles(this.#mostTaken);
    server.on("connection", (socket: Socket) => this.#take(socket));
  }

  /** With those that are taken to be told that there are too many. */
  get #mostTaken(): number {
    return this.#most * 1.25 + 1;
  }

  #take(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => this.#forget(socket));
    if (this.#open.size > this.#most) {
      const [idle] = this.#idle;
      if (idle === undefined) this.#late.add(socket);
      else this.#close(idle);
    }
    if (this.#open.size > this.#mostTaken) this.#close(socket);
    else if (!this.#late.has(socket)) this.#idle.add(socket);
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
    this.#idle.delete(socket);
  }

  /** Whether a request may be answered: not if there are too many connections. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (this.#late.has(socket) && this.#open.size > this.#most) return false;
    this.#late.delete(socket);
    this.#idle.delete(socket);
    response.once("close", () => {
      if (this.#open.has(socket)) this.#idle.add(socket);
    });
    return true;
  }
}
