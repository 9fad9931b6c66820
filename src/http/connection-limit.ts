import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { reserveFiles, roomForFiles } from "../files/open-files.ts";
import { problemReply } from "./reply.ts";

const FULL = problemReply({
  status: 503,
  title: "Service Unavailable",
  detail: "too many clients are connected; try again in a moment",
  headers: { "Retry-After": "1", Connection: "close" },
});

/** Files that are kept for everything else, if that is less than half of them. */
const KEPT_FILES = 1024;

/**
 * Limits the connections of a server, to less than there are files.
 *
 * When there are too many, those without a request are closed. A request on one that came too late gets
 * 503; some more are taken for that, and others closed at once. `maxConnections` would close all of
 * them without an answer.
 */
export class ConnectionLimit {
  readonly #server: Server;
  readonly #most: number;
  /** Connections that came when there were enough. */
  readonly #late = new WeakSet<Socket>();
  #open = 0;

  constructor(server: Server, most: number) {
    this.#server = server;
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
    this.#open += 1;
    socket.once("close", () => {
      this.#open -= 1;
    });
    if (this.#open <= this.#most) return;
    this.#late.add(socket);
    if (this.#open > this.#mostTaken) socket.destroy();
    else this.#server.closeIdleConnections();
  }

  /** Answers a request if there are too many connections; false, with nothing done, if there are not. */
  refuse({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (!this.#late.has(socket)) return false;
    if (this.#open <= this.#most) {
      this.#late.delete(socket);
      return false;
    }
    response.writeHead(FULL.status, FULL.headers).end(FULL.body);
    return true;
  }
}
