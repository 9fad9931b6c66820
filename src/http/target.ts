import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A request target in its parts, as sent: nothing is decoded or collapsed. */
export interface Target {
  readonly path: string;
  /** What follows the first `?`; empty when there is none. */
  readonly query: string;
}

/**
 * Splits a request target. The absolute form that proxies send loses its scheme and host.
 *
 * `new URL()` would collapse `/../`, encode quotes, and so change a URI that is looked up.
 */
export function splitTarget(raw: string): Target {
  const target = raw.startsWith("/") ? raw : raw.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path: path === "" ? "/" : path, query: mark === -1 ? "" : target.slice(mark + 1) };
}

/** `x/y/` → `/x/y`; the root of all is nothing. */
export function pathPrefix(path: string = ""): string {
  const inner = path.replaceAll(/^\/+|\/+$/g, "");
  return inner === "" ? "" : `/${inner}`;
}

/** What a lookup is asked for in the query of its target. */
export interface LookupQuery {
  /** The URI as sent; undefined when there is no `url=`. */
  readonly url: string | undefined;
  readonly at: string | undefined;
  readonly map: string | undefined;
  readonly isSurt: boolean;
}

/**
 * Reads `at=…&map=…&url=URI`. The URI is the raw rest of the target, so `url=` comes last.
 *
 * A URI whose scheme is followed by `%3A` was encoded as a form field is, as many HTTP libraries
 * do: it is decoded once. No URI that was sent as it is begins like that.
 */
export function lookupQuery(query: string): LookupQuery {
  const found = /(?:^|&)url=/.exec(query);
  const url = found === null ? undefined : query.slice(found.index + found[0].length);
  const rest = found === null ? query : query.slice(0, found.index);
  // Most lookups have nothing but the URI, and there are many of them.
  if (rest === "") {
    return { url: url && asSent(url), at: undefined, map: undefined, isSurt: false };
  }
  const before = new URLSearchParams(rest);
  return {
    url: url && asSent(url),
    at: before.get("at") ?? undefined,
    map: before.get("map") ?? undefined,
    isSurt: before.has("surt"),
  };
}

function asSent(url: string): string {
  return /^[a-z][a-z0-9+.-]*%3A/i.test(url) ? formDecoded(url) : url;
}

/** A form field decoded; an invalid encoding stays as it is. */
function formDecoded(text: string): string {
  return new URLSearchParams(`x=${text.replaceAll("&", "%26")}`).get("x") ?? text;
}

/** The number in `page=N`; undefined without one, NaN when it is not a page number. */
export function pageNumber(query: string): number | undefined {
  const text = new URLSearchParams(query).get("page");
  if (text === null) return undefined;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
}

/** An error of the parser of `node:http`, with the bytes it could not read. */
export interface ParserError extends Error {
  readonly code?: string;
  /** What came last on the connection. */
  readonly rawPacket?: Buffer;
  /** Where in it the parser stopped. */
  readonly bytesParsed?: number;
}

const METHODS = /^(?:GET|HEAD|OPTIONS) [!-~]*$/;
const HEAD_END = Buffer.from("\r\n\r\n");
const HAS_BODY = /\n(?:content-length|transfer-encoding)[ \t]*:/i;

/**
 * Lets requests in whose target has bytes beyond ASCII, percent-encoded.
 *
 * Such targets are not HTTP, but they are what people paste and what other aggregators answer; Node's
 * parser refuses them. Their head is taken from the parser's error, encoded, and given to the server
 * again as a connection of its own, which ends after one answer. Only requests without a body, and
 * only when no other answer is under way on the connection.
 */
export class RawTargets {
  readonly #server: Server;
  readonly #maxHeadBytes: number;
  /** What came so far of heads that are not there as a whole; `taken` when nothing more is wanted. */
  readonly #heads = new WeakMap<Socket, Buffer | "taken">();
  readonly #underWay = new WeakMap<Socket, number>();

  constructor(server: Server, maxHeadBytes: number) {
    this.#server = server;
    this.#maxHeadBytes = maxHeadBytes;
    server.on("request", ({ socket }, response) => {
      this.#underWay.set(socket, (this.#underWay.get(socket) ?? 0) + 1);
      response.once("close", () => {
        this.#underWay.set(socket, (this.#underWay.get(socket) ?? 1) - 1);
      });
    });
  }

  /** Whether a parser's error was such a request, and is taken care of. */
  take(error: ParserError, socket: Socket): boolean {
    const before = this.#heads.get(socket);
    if (before === "taken") return true;
    if (error.code !== "HPE_INVALID_URL") return false;
    const { rawPacket } = error;
    if (rawPacket === undefined) return false;
    const head = before === undefined ? this.#begin(error, socket) : joined(before, rawPacket);
    if (head === undefined || head.length > this.#maxHeadBytes) return false;
    this.#heads.set(socket, head);
    const end = head.indexOf(HEAD_END);
    if (end === -1) return true; // the rest is still to come
    const encoded = encodedHead(head.subarray(0, end + HEAD_END.length));
    if (encoded === undefined) return false;
    this.#heads.set(socket, "taken");
    this.#server.emit("connection", new OneRequest(socket, encoded));
    return true;
  }

  /** The part of a packet that such a request begins with. */
  #begin({ rawPacket, bytesParsed = 0 }: ParserError, socket: Socket): Buffer | undefined {
    if (rawPacket === undefined || (this.#underWay.get(socket) ?? 0) > 0) return undefined;
    if (!(rawPacket[bytesParsed] >= 0x80)) return undefined;
    const start = rawPacket.lastIndexOf(0x0a, bytesParsed) + 1;
    const line = rawPacket.toString("latin1", start, bytesParsed);
    return METHODS.test(line) ? Buffer.from(rawPacket.subarray(start)) : undefined;
  }
}

function joined(a: Buffer, b: Buffer): Buffer {
  return Buffer.concat([a, b]);
}

/** A head with its target encoded, for a connection of one request; undefined if a body follows. */
function encodedHead(head: Buffer): Buffer | undefined {
  const text = head.toString("latin1");
  if (HAS_BODY.test(text)) return undefined;
  const lineEnd = text.indexOf("\r\n");
  const line = text
    .slice(0, lineEnd)
    .replaceAll(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return Buffer.from(`${line}\r\nConnection: close${text.slice(lineEnd)}`, "latin1");
}

/** A connection that has one request, and sends what is answered to another. */
class OneRequest extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, request: Buffer) {
    super();
    this.#socket = socket;
    socket.once("close", () => this.destroy());
    this.push(request);
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  /** As sockets have it: ends when all is written. */
  destroySoon(): void {
    if (this.writable) this.end();
  }

  override _read(): void {
    // Nothing more comes.
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroySoon();
    done(error);
  }
}
