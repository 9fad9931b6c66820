import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { reserveFiles, roomForFiles } from "../files/open-files.ts";

/** File descriptors reserved for other uses; at most half of those available. */
const KEPT_FILES = 1024;

/**
 * Limits the connections of a server, to fewer than the available file descriptors.
 *
 * Over the limit, the longest idle connection is closed, so that one client cannot lock out others by opening
 * connections. If all have requests in progress, requests on further connections get 503; 25% more connections are
 * accepted for this, and the rest closed immediately. `maxConnections` would close them all without a response.
 */
export class ConnectionLimit {
  readonly #max: number;
  readonly #open = new Set<Socket>();
  /** Connections within the limit without a request in progress, longest idle first. */
  readonly #idle = new Set<Socket>();
  /** Connections accepted over the limit while all others had requests in progress. */
  readonly #late = new WeakSet<Socket>();

  constructor(server: Server, max: number) {
    const room = roomForFiles();
    const files = room - Math.min(room / 2, KEPT_FILES);
    this.#max = Math.max(1, Math.min(max, files / 1.25 - 1));
    reserveFiles(this.#maxAccepted);
    server.on("connection", (socket: Socket) => this.#take(socket));
  }

  /** Includes the connections that are only accepted to send 503. */
  get #maxAccepted(): number {
    return this.#max * 1.25 + 1;
  }

  #take(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => this.#forget(socket));
    if (this.#open.size > this.#max) {
      const [idle] = this.#idle;
      if (idle === undefined) this.#late.add(socket);
      else this.#close(idle);
    }
    if (this.#open.size > this.#maxAccepted) this.#close(socket);
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

  /** Whether a request may be handled; false if there are too many connections. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (this.#late.has(socket) && this.#open.size > this.#max) return false;
    this.#late.delete(socket);
    this.#idle.delete(socket);
    response.once("close", () => {
      if (this.#open.has(socket)) this.#idle.add(socket);
    });
    return true;
  }
}
