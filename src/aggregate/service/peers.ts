import { listen, type Listening, type RequestHandler } from "../../http/listen.ts";
import { SocketForward } from "../../http/socket-forward.ts";
import { roomForFiles } from "../../files/open-files.ts";
import type { Bus } from "../../files/processes/bus.ts";
import { textHash } from "../upstream/cache-store.ts";
import type { AggregatorExchange } from "./aggregator-exchange.ts";

/** Says where the clients of another process think they are. */
export const BASE_HEADER = "x-mementomap-base";

const TOPIC = "peers";

/** Requests that may be under way at another process at once. */
const MOST_CONNECTIONS = 128;
/** The share of open files for connections to others; as many come from them. */
const SHARE_OF_FILES = 1 / 16;

/** What processes publish of themselves. */
interface PeerMessage {
  readonly number: number;
  readonly id: number;
  /** Undefined for one that takes no more requests. */
  readonly socket: string | undefined;
}

interface Peer {
  readonly id: number;
  /** Undefined for this process. */
  readonly forward: SocketForward | undefined;
}

export interface PeersOptions {
  /** The number of this process among those that serve together, and its id, which no other ever has. */
  readonly number: number;
  readonly id: number;
  /** How many processes serve together. */
  readonly count: number;
  /** Where it listens for the others. */
  readonly socket: string;
  readonly bus: Bus;
  /** How long another process may take to answer. */
  readonly timeoutMs: number;
  /** How long what others forwarded may take once this process stops. */
  readonly graceMs: number;
}

/**
 * The processes that serve together. Each original has an owner, which answers all requests for it,
 * whichever process they come to: so that there is one cache, and requests for the same are joined.
 *
 * Where the owner does not answer, the process that has the client does.
 */
export class Peers {
  readonly #options: PeersOptions;
  /** Those that take requests, by number. */
  readonly #peers = new Map<number, Peer>();
  #listening: Listening | undefined;

  constructor(options: PeersOptions) {
    const { number, id, bus } = options;
    this.#options = options;
    this.#peers.set(number, { id, forward: undefined });
    // Other processes are of the same program.
    bus.subscribe(TOPIC, (message) => this.#take(message as PeerMessage));
    bus.subscribe("ended", (gone) => this.#forget(gone as number));
  }

  /** Takes requests of the others from now on. */
  async listen(handler: RequestHandler): Promise<void> {
    const { socket, timeoutMs, graceMs } = this.#options;
    const limits = {
      graceMs,
      maxConnections: Infinity,
      idleTimeoutMs: timeoutMs,
      keepAliveMs: 60_000,
      maxHeaderBytes: 256 * 1024,
    };
    this.#listening = await listen(handler, { socket, limits });
    this.#publish(socket);
  }

  /**
   * Forwards a request to the owner of an original.
   *
   * @param answerHere called if the owner does not answer.
   * @returns false, with nothing done, if this process is the owner.
   */
  forward(exchange: AggregatorExchange, original: string, answerHere: () => void): boolean {
    const forward = this.#ownerOf(original);
    if (forward === undefined) return false;
    const { request, response, base, signal } = exchange;
    const headers = [BASE_HEADER, base];
    forward.forward({ request, response, headers, signal, onFailed: answerHere });
    return true;
  }

  /** Tells the others that this process takes no more; what they have sent is answered. */
  async stop(): Promise<void> {
    this.#publish(undefined);
    await this.#listening?.stop();
  }

  /** Forwards no more. */
  close(): void {
    for (const { forward } of this.#peers.values()) forward?.close();
  }

  #publish(socket: string | undefined): void {
    const { number, id, bus } = this.#options;
    bus.publish(TOPIC, { number, id, socket } satisfies PeerMessage, String(id));
  }

  #take({ number, id, socket }: PeerMessage): void {
    if (socket === undefined) {
      this.#forget(id);
    } else if ((this.#peers.get(number)?.id ?? 0) < id) {
      const { timeoutMs, count } = this.#options;
      const room = Math.floor((roomForFiles() * SHARE_OF_FILES) / count);
      const connections = Math.max(2, Math.min(MOST_CONNECTIONS, room));
      this.#peers.get(number)?.forward?.close();
      const forward = new SocketForward(socket, { connections, timeoutMs });
      this.#peers.set(number, { id, forward });
    }
  }

  #forget(gone: number): void {
    for (const [number, { id, forward }] of this.#peers) {
      if (id !== gone) continue;
      this.#peers.delete(number);
      forward?.close();
    }
  }

  /** Rendezvous hashing: where a process comes or goes, only its originals have another owner. */
  #ownerOf(original: string): SocketForward | undefined {
    const hash = textHash(original, 0);
    let owner: SocketForward | undefined;
    let most = -1;
    for (const [number, { forward }] of this.#peers) {
      const weight = mixed(hash ^ Math.imul(number, 0x9e37_79b1));
      if (weight <= most) continue;
      most = weight;
      owner = forward;
    }
    return owner;
  }
}

/** The finalizer of MurmurHash3: each bit of the result depends on all. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
