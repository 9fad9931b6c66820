import { connect, createServer, type Server, type Socket } from "node:net";
import { PlaceIndex } from "../upstream/cache-store.ts";
import { FifoQueue } from "../upstream/limits.ts";

/*
 * Which of the processes that serve together answers for an original: the one that asked first. The owner of an
 * original remembers it, and others ask the owner: a word of four bytes for a question, the hash of the original, and
 * one for the answer, the number of a process. The questions of one turn of the event loop go together, so that they cost
 * little beside the request that they are about.
 */

/** Originals that are remembered: more than a cache of the default size has answers for. */
const ORIGINALS = 65_536;
/** Numbers of processes are below this. */
const NUMBERS = 1024;
const WORD_BYTES = 4;
/** An owner that takes longer hangs, or has gone. */
const LONGEST_MS = 1000;

/** The processes that answer for originals, by the hashes of these. The oldest are forgotten. */
export class Holders {
  readonly #places = new PlaceIndex(ORIGINALS);
  #claims = 0;

  /** The process that answers for an original: the one that asks now, where none does that lives. */
  claim(hash: number, asking: number, isAlive: (process: number) => boolean): number {
    const known = (this.#places.find(hash, 0) ?? 0) % NUMBERS;
    const holder = known !== 0 && isAlive(known) ? known : asking;
    this.#set(hash, holder);
    return holder;
  }

  /** All that is remembered, the oldest first, for {@link restore} of another process. */
  dump(): Uint32Array {
    return Uint32Array.from(this.#places.entries().flatMap(([hash, at]) => [hash, at % NUMBERS]));
  }

  restore(dumped: Uint32Array): void {
    for (let at = 0; at + 1 < dumped.length; at += 2) this.#set(dumped[at], dumped[at + 1]);
  }

  #set(hash: number, holder: number): void {
    this.#places.set(hash, this.#claims * NUMBERS + holder);
    this.#claims += 1;
  }
}

/** Takes words out of what comes in pieces. */
class Words {
  #rest: Buffer = Buffer.alloc(0);

  /** The words that are complete with this piece. */
  take(chunk: Buffer): number[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const count = Math.floor(bytes.length / WORD_BYTES);
    this.#rest = bytes.subarray(count * WORD_BYTES);
    return Array.from({ length: count }, (_, i) => bytes.readUInt32LE(i * WORD_BYTES));
  }

  static bytesOf(words: readonly number[]): Buffer {
    const bytes = Buffer.alloc(words.length * WORD_BYTES);
    words.forEach((word, i) => bytes.writeUInt32LE(word, i * WORD_BYTES));
    return bytes;
  }
}

/** Answers the claims of other processes. */
export class ClaimServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** @param claim gives the process that answers for an original. */
  constructor(claim: (hash: number, asking: number) => number) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
      const words = new Words();
      let asking: number | undefined;
      socket.on("data", (chunk: Buffer) => {
        const hashes = words.take(chunk);
        // The first word is the number of the process.
        asking ??= hashes.shift();
        if (asking === undefined || hashes.length === 0) return;
        const number = asking;
        socket.write(Words.bytesOf(hashes.map((hash) => claim(hash, number))));
      });
    });
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(path, () => {
        this.#server.off("error", reject);
        this.#server.on("error", () => undefined);
        resolve();
      });
    });
  }

  /** Answers no more. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Gets the number of the process that answers, or undefined where the owner does not say. */
type OnHolder = (process: number | undefined) => void;

/** Asks another process who answers for originals that it owns. */
export class ClaimChannel {
  readonly #path: string;
  readonly #number: number;
  #socket: Socket | undefined;
  #waiting = new FifoQueue<OnHolder>();
  /** Since when they wait, or when the last of them was answered. */
  #waitingSince = 0;
  #unsent: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param number that of this process. */
  constructor(path: string, number: number) {
    this.#path = path;
    this.#number = number;
  }

  claim(hash: number, onHolder: OnHolder): void {
    if (this.#waiting.size === 0) this.#waitingSince = performance.now();
    this.#waiting.push(onHolder);
    if (this.#unsent.length === 0) setImmediate(() => this.#send());
    this.#unsent.push(hash);
  }

  #send(): void {
    const hashes = this.#unsent;
    this.#unsent = [];
    if (hashes.length === 0) return;
    const isNew = this.#socket === undefined;
    const socket = (this.#socket ??= this.#open());
    socket.write(Words.bytesOf(isNew ? [this.#number, ...hashes] : hashes));
    this.#timer ??= setInterval(() => this.#check(), LONGEST_MS / 4).unref();
  }

  #open(): Socket {
    const socket = connect(this.#path).unref();
    const words = new Words();
    socket.on("data", (chunk: Buffer) => {
      this.#waitingSince = performance.now();
      for (const holder of words.take(chunk)) this.#waiting.shift()?.(holder);
    });
    const fail = (): void => {
      if (this.#socket === socket) this.close();
    };
    socket.on("error", fail);
    socket.on("close", fail);
    return socket;
  }

  #check(): void {
    const waitedMs = performance.now() - this.#waitingSince;
    if (this.#waiting.size > 0 && waitedMs > LONGEST_MS) this.close();
  }

  /** Ends the connection. Those who wait get no number; the next claim connects again. */
  close(): void {
    const waiting = this.#waiting;
    this.#waiting = new FifoQueue();
    this.#unsent = [];
    clearInterval(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
    for (let onHolder = waiting.shift(); onHolder !== undefined; onHolder = waiting.shift()) {
      onHolder(undefined);
    }
  }
}
