import { asError } from "../errors.ts";
import type { OnReadOpts, Socket } from "node:net";
import { LF } from "../bytes/bytes.ts";
import { FAULT, httpFault } from "./http-fault.ts";
import { type HeaderBlock, parseResponseHead, type ResponseHead } from "./response-head.ts";

/** A request as a connection sends it. */
interface SentRequest {
  readonly method: "GET" | "HEAD";
  /** All of the head, with its last empty line. Characters stand for bytes. */
  readonly head: string;
}

/**
 * Takes what becomes of a request: `onConnect` when it is about to be sent, `onHead` for each head, `onData` any
 * number of times, then `onComplete`; or `onError` at any time. Sockets call it: it must not throw.
 */
export interface ResponseHandler {
  /** Whether nobody waits for the answer any more: if it was not sent yet, it is not sent. */
  readonly isUnwanted: boolean;
  onConnect(hop: Hop): void;
  onHead(status: number, fields: HeaderBlock): void;
  /** Whether more may come at once; after false nothing comes until the hop is told to resume. */
  onData(chunk: Uint8Array): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** What a request is under way on. Others may be when it has ended, so handlers say who they are. */
export interface Hop {
  /** Ends the request, which costs the connection; the handler hears of an error. */
  abort(handler: ResponseHandler): void;
  resume(handler: ResponseHandler): void;
}

/** What a connection tells the pool that it belongs to. */
export interface ConnectionOwner {
  /** It can take another request; the server says for how long, if it does. */
  onFree(connection: Connection, keptMs: number | undefined): void;
  /** It is gone. A request that was not written yet is to be sent on another one. */
  onGone(connection: Connection, again: Sending | undefined): void;
}

/** A request and who waits for its answer. */
export interface Sending {
  readonly request: SentRequest;
  readonly handler: ResponseHandler;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const HTTP_1 = "HTTP/1.";
/** Of a line that says how long a chunk is, and of all fields behind a body. */
const MAX_LINE = 4096;
const MAX_TRAILERS = 65_536;

/** What comes next. */
const NEXT = {
  /** Nothing: no request is under way. */
  nothing: 0,
  head: 1,
  body: 2,
  chunkSize: 3,
  chunk: 4,
  chunkEnd: 5,
  trailers: 6,
  /** The body, until the connection ends. */
  rest: 7,
  /** Nothing: the answer is whole. */
  finish: 8,
} as const;

/**
 * All sockets read into this, one after the other: what is in it is parsed, and copied where it is handed on,
 * before another one reads.
 */
const INPUT = Buffer.allocUnsafeSlow(65_536);

/**
 * One connection to a server, for one request after the other (HTTP/1.1, RFC 9112).
 *
 * What is not HTTP ends the connection, and so does whatever comes without having been asked for.
 */
export class Connection implements Hop {
  readonly #owner: ConnectionOwner;
  readonly #maxHeadBytes: number;
  #socket: Socket | undefined;
  #sending: Sending | undefined;
  #next: number = NEXT.nothing;
  /** The start of a head, and the line, that did not come whole. */
  #head: Buffer | undefined;
  #headLength = 0;
  #line = "";
  #trailerBytes = 0;
  #left = 0;
  /** Where the body is within what has just come. */
  #bodyStart = 0;
  #bodyStop = 0;
  #isKept = false;
  #keptMs: number | undefined;
  /** Whether an answer came on it before, or it was kept; and whether the request under way was written. */
  #isUsed = false;
  #isWritten = false;
  /** Whether the handler is being asked whether it still wants to send. */
  #isOffered = false;
  #isPaused = false;
  /** What came while it was paused. */
  #unread: Buffer | undefined;
  /** The server has sent all that it will. */
  #isEnded = false;
  #isGone = false;
  #error: Error | undefined;

  constructor(owner: ConnectionOwner, maxHeadBytes: number) {
    this.#owner = owner;
    this.#maxHeadBytes = maxHeadBytes;
  }

  /** How its socket is to be read. */
  get onread(): OnReadOpts {
    return {
      buffer: INPUT,
      callback: (length, input) => {
        this.#take(input as Buffer, length); // it is the one above
        return !this.#isPaused;
      },
    };
  }

  /** Has a request wait for the connection to be made. */
  expect(sending: Sending): void {
    this.#sending = sending;
  }

  /** The connection is made: sends what waits for it. */
  open(socket: Socket): void {
    this.#socket = socket;
    // TLS within a tunnel does not read as it is told.
    socket.on("data", (bytes: Buffer) => {
      this.#take(bytes, bytes.length);
      if (this.#isPaused) socket.pause();
    });
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.on("end", () => {
      this.#isEnded = true;
      if (!this.#isPaused) this.#end();
    });
    socket.on("close", () => {
      if (!this.#isEnded) this.#gone(this.#error, true);
    });
    const sending = this.#sending;
    if (this.#isGone) socket.destroy();
    else if (sending !== undefined && !this.send(sending)) this.#owner.onFree(this, undefined);
  }

  /** No connection could be made. */
  fail(error: Error): void {
    this.#gone(error, false);
  }

  /** Sends a request. False where nobody wants it any more, and another one can be sent. */
  send(sending: Sending): boolean {
    this.#sending = sending;
    this.#isWritten = false;
    this.#isOffered = true;
    sending.handler.onConnect(this);
    this.#isOffered = false;
    if (this.#sending !== sending) return this.#isGone;
    this.#socket?.ref();
    if (this.#isUsed) writeLater(this, sending);
    else this.write(sending);
    return true;
  }

  /** Writes a request, if it is still the one to be sent. */
  write(sending: Sending): void {
    if (this.#sending !== sending) return;
    this.#isWritten = true;
    this.#next = NEXT.head;
    this.#socket?.write(sending.request.head, "latin1");
  }

  /** Lets the process end while nothing is asked. */
  rest(): void {
    this.#isUsed = true;
    this.#socket?.unref();
  }

  abort(handler: ResponseHandler): void {
    const sending = this.#sending;
    if (sending?.handler !== handler) return;
    const error = httpFault("the request was ended", FAULT.aborted);
    if (this.#isWritten) {
      this.destroy(error);
      return;
    }
    this.#sending = undefined;
    if (!this.#isOffered) this.#owner.onFree(this, this.#keptMs);
    handler.onError(error);
  }

  resume(handler: ResponseHandler): void {
    if (this.#sending?.handler !== handler || !this.#isPaused) return;
    this.#isPaused = false;
    const unread = this.#unread;
    this.#unread = undefined;
    if (unread !== undefined) this.#take(unread, unread.length);
    if (this.#isPaused || this.#isGone) return;
    if (this.#isEnded) this.#end();
    else this.#socket?.resume();
  }

  /** Ends the connection; the request under way fails, if there is one. */
  destroy(error?: Error): void {
    this.#socket?.destroy();
    this.#gone(error, false);
  }

  #take(bytes: Buffer, length: number): void {
    try {
      this.#parse(bytes, length);
    } catch (error) {
      this.destroy(asError(error));
    }
  }

  #parse(bytes: Buffer, end: number): void {
    let at = 0;
    this.#bodyStart = this.#bodyStop = 0;
    while (at < end && this.#next !== NEXT.finish) {
      if (this.#isGone) return;
      if (this.#isPaused) {
        this.#unread = joined(this.#unread, bytes, at, end);
        return;
      }
      switch (this.#next) {
        case NEXT.nothing:
          // Nobody asked for it. Whoever is about to send a request here has to go elsewhere.
          this.#socket?.destroy();
          this.#gone(undefined, true);
          return;
        case NEXT.head:
          at = this.#takeHead(bytes, at, end);
          break;
        case NEXT.chunkSize:
        case NEXT.chunkEnd:
        case NEXT.trailers:
          at = this.#takeLine(bytes, at, end);
          break;
        default:
          at = this.#takeBody(bytes, at, end);
      }
    }
    if (this.#bodyStop > this.#bodyStart) this.#handOn(bytes);
    // Unless it was ended by that.
    if (this.#next === NEXT.finish) this.#complete(at === end);
  }

  #takeHead(bytes: Buffer, at: number, end: number): number {
    const before = this.#headLength;
    const all = before === 0 ? bytes : this.#keepHead(bytes, at, end);
    const from = before === 0 ? at : 0;
    const to = before === 0 ? end : all.length;
    // It may reach into what came for another connection.
    const found = all.indexOf(HEAD_END, Math.max(from, before - 3));
    const isWhole = found !== -1 && found + HEAD_END.length <= to;
    const stop = isWhole ? found : to;
    if (stop - from > this.#maxHeadBytes) {
      throw httpFault("the head of the answer is too long", FAULT.headerLimit);
    }
    if (!isWhole) {
      const start = all.toString("latin1", from, Math.min(to, from + HTTP_1.length));
      if (!HTTP_1.startsWith(start)) throw httpFault("the answer does not begin as HTTP/1.1 does");
      if (before === 0) this.#keepHead(bytes, at, end);
      return end;
    }
    this.#head = undefined;
    this.#headLength = 0;
    this.#begin(all.toString("latin1", from, stop + 2));
    return stop + HEAD_END.length - from - before + at;
  }

  /** Adds to the start of a head; gives all of it. It grows by doubling: it may come byte by byte. */
  #keepHead(bytes: Buffer, at: number, end: number): Buffer {
    const length = this.#headLength + end - at;
    let head = this.#head;
    if (head === undefined || head.length < length) {
      head = Buffer.allocUnsafe(2 * length);
      this.#head?.copy(head, 0, 0, this.#headLength);
      this.#head = head;
    }
    bytes.copy(head, this.#headLength, at, end);
    this.#headLength = length;
    return head.subarray(0, length);
  }

  #begin(text: string): void {
    const sending = this.#sending;
    if (sending === undefined) return;
    const head = parseResponseHead(text, sending.request.method);
    const { status, fields } = head;
    if (status === 101) throw httpFault("the server changes the protocol, which nobody asked for");
    sending.handler.onHead(status, fields);
    // It may have been ended by that; and an answer of status 1xx is followed by another one.
    if (this.#isGone || status < 200) return;
    this.#expectBody(head);
  }

  #expectBody({ bodyEnd, length, isKept, keptMs }: ResponseHead): void {
    this.#isKept = isKept;
    this.#keptMs = keptMs;
    this.#left = length;
    if (bodyEnd === "chunked") this.#next = NEXT.chunkSize;
    else if (bodyEnd === "close") this.#next = NEXT.rest;
    else if (bodyEnd === "length" && length > 0) this.#next = NEXT.body;
    else this.#next = NEXT.finish;
  }

  /**
   * Many short chunks are handed on as one, and moved together for that where they are: each by itself would take a
   * hundred times its length wherever it is held.
   */
  #takeBody(bytes: Buffer, at: number, end: number): number {
    const isToEnd = this.#next === NEXT.rest;
    const stop = isToEnd ? end : Math.min(end, at + this.#left);
    if (this.#bodyStop === this.#bodyStart) this.#bodyStart = this.#bodyStop = at;
    else bytes.copyWithin(this.#bodyStop, at, stop);
    this.#bodyStop += stop - at;
    this.#left -= stop - at;
    const isLast = !isToEnd && this.#left === 0;
    if (isLast) this.#next = this.#next === NEXT.chunk ? NEXT.chunkEnd : NEXT.finish;
    return stop;
  }

  #handOn(bytes: Buffer): void {
    const chunk = Buffer.allocUnsafe(this.#bodyStop - this.#bodyStart);
    bytes.copy(chunk, 0, this.#bodyStart, this.#bodyStop);
    const mayGoOn = this.#sending?.handler.onData(chunk) !== false;
    if (!mayGoOn && !this.#isGone && this.#next !== NEXT.finish) this.#isPaused = true;
  }

  #takeLine(bytes: Buffer, at: number, end: number): number {
    const feed = bytes.indexOf(LF, at);
    const stop = feed === -1 || feed >= end ? end : feed + 1;
    this.#line += bytes.toString("latin1", at, stop);
    if (this.#line.length > MAX_LINE) throw httpFault("a line between chunks is too long");
    if (feed === -1 || feed >= end) return end;
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r\n")) throw httpFault("a line between chunks has no end");
    this.#takeWholeLine(line.slice(0, -2));
    return stop;
  }

  #takeWholeLine(line: string): void {
    if (this.#next === NEXT.chunkSize) {
      const [, digits] = /^([\da-f]{1,12})[\t ]*(?:;.*)?$/i.exec(line) ?? [];
      if (digits === undefined) throw httpFault("a chunk has no length");
      this.#left = Number.parseInt(digits, 16);
      this.#trailerBytes = 0;
      this.#next = this.#left === 0 ? NEXT.trailers : NEXT.chunk;
    } else if (this.#next === NEXT.chunkEnd) {
      if (line !== "") throw httpFault("a chunk is longer than it says");
      this.#next = NEXT.chunkSize;
    } else if (line === "") {
      this.#next = NEXT.finish;
    } else {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > MAX_TRAILERS) {
        throw httpFault("what follows the body is too long", FAULT.headerLimit);
      }
    }
  }

  /** @param isAll whether nothing else came. */
  #complete(isAll: boolean): void {
    const sending = this.#sending;
    this.#sending = undefined;
    this.#isUsed = true;
    this.#next = NEXT.nothing;
    if (this.#isKept && isAll && !this.#isEnded) this.#owner.onFree(this, this.#keptMs);
    else this.destroy();
    sending?.handler.onComplete();
  }

  #end(): void {
    if (this.#next === NEXT.rest) {
      this.#isKept = false;
      this.#complete(true);
    } else {
      this.#socket?.destroy();
      this.#gone(this.#error, true);
    }
  }

  /** @param isByServer whether the other side ended it. */
  #gone(error: Error | undefined, isByServer: boolean): void {
    if (this.#isGone) return;
    this.#isGone = true;
    // The handler may have ended it by the last piece of an answer, which is not whole then.
    this.#next = NEXT.nothing;
    const sending = this.#sending;
    this.#sending = undefined;
    const again = isByServer && !this.#isWritten ? sending : undefined;
    this.#owner.onGone(this, again);
    if (again !== undefined) return;
    sending?.handler.onError(error ?? httpFault("the connection was cut", FAULT.cut));
  }
}

function joined(before: Buffer | undefined, bytes: Buffer, at: number, end: number): Buffer {
  const more = bytes.subarray(at, end);
  return before === undefined ? Buffer.from(more) : Buffer.concat([before, more]);
}

/** A request for a connection that was used before. */
interface DueRequest {
  readonly connection: Connection;
  readonly sending: Sending;
}

let due: DueRequest[] = [];

/**
 * Writes a request when what has come on the connection meanwhile has been read: its end, or an answer that nobody
 * asked for, which must not be taken for that of the next request.
 *
 * Immediates run right after sockets were looked at, and the connection may be free since then. So the second one
 * writes, which runs after another look. The connection may have another request by then, which has its own.
 */
function writeLater(connection: Connection, sending: Sending): void {
  if (due.push({ connection, sending }) === 1) setImmediate(lookFirst);
}

function lookFirst(): void {
  setImmediate(writeAll, due);
  due = [];
}

function writeAll(all: readonly DueRequest[]): void {
  for (const { connection, sending } of all) connection.write(sending);
}
