import { listen, type Listening, type RequestHandler } from "../../http/listen.ts";
import { SocketForward } from "../../http/socket-forward.ts";
import { roomForFiles } from "../../files/open-files.ts";
import type { Bus } from "../../files/processes/bus.ts";
import { textHash } from "../upstream/cache-store.ts";
import type { AggregatorExchange } from "./aggregator-exchange.ts";
import { ClaimChannel, ClaimServer, Holders } from "./claims.ts";

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

/** Another process. */
interface Peer {
  readonly id: number;
  readonly forward: SocketForward;
  readonly claims: ClaimChannel;
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
  /** Whether the owner of an original answers for it, because caches outlive processes; default the first asked. */
  readonly ownersAnswer?: boolean | undefined;
}

/**
 * The processes that serve together. One of them answers all requests for an original, whichever process they come
 * to: so that there is one cache, and requests for the same are joined. It is the one that was asked for it first,
 * as most originals are asked for once; its owner remembers which. Owners are found by a hash of the original.
 *
 * Where another process does not answer, the one that has the client does.
 */
export class Peers {
  readonly #options: PeersOptions;
  /** The others that take requests, by number; with that of this one, the process that replaces it. */
  readonly #peers = new Map<number, Peer>();
  /** Who answers for the originals that this process owns. */
  readonly holders: Holders = new Holders();
  readonly #claims: ClaimServer;
  #listening: Listening | undefined;

  constructor(options: PeersOptions) {
    const { bus } = options;
    this.#options = options;
    this.#claims = new ClaimServer((hash, asking) => this.#claim(hash, asking));
    // Other processes are of the same program.
    bus.subscribe(TOPIC, (message) => this.#take(message as PeerMessage));
    bus.subscribe("ended", (gone) => this.#forget(gone as number));
  }

  get bus(): Bus {
    return this.#options.bus;
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
    await this.#claims.listen(claimsPath(socket));
    this.#listening = await listen(handler, { socket, limits });
    this.#publish(socket);
  }

  /** Forwards a request to the process that answers for an original, or calls `answerHere`. */
  forward(exchange: AggregatorExchange, original: string, answerHere: () => void): void {
    const hash = textHash(original, 0);
    const owner = this.#ownerOf(hash);
    const forwardTo = (peer: Peer | undefined): void => {
      if (peer === undefined) {
        answerHere();
        return;
      }
      const { request, response, base, signal, onAnswer } = exchange;
      const headers = [BASE_HEADER, base];
      peer.forward.forward({ request, response, headers, signal, onFailed: answerHere, onAnswer });
    };
    const onHolder = (holder: number | undefined): void =>
      forwardTo(holder === undefined ? undefined : this.#peers.get(holder));
    if (this.#options.ownersAnswer === true) forwardTo(owner);
    else if (owner === undefined) onHolder(this.#claim(hash, this.#options.number));
    else owner.claims.claim(hash, onHolder);
  }

  #claim(hash: number, asking: number): number {
    const { number } = this.#options;
    const isAlive = (other: number): boolean => other === number || this.#peers.has(other);
    return this.holders.claim(hash, asking, isAlive);
  }

  /** Tells the others that this process takes no more; what they have sent is answered. */
  async stop(): Promise<void> {
    this.#publish(undefined);
    await this.#listening?.stop();
    this.#claims.close();
  }

  /** Forwards no more. */
  close(): void {
    for (const peer of this.#peers.values()) closePeer(peer);
  }

  #publish(socket: string | undefined): void {
    const { number, id, bus } = this.#options;
    bus.publish(TOPIC, { number, id, socket } satisfies PeerMessage, String(id));
  }

  #take({ number, id, socket }: PeerMessage): void {
    if (socket === undefined) {
      this.#forget(id);
      return;
    }
    const known = this.#peers.get(number);
    const own = number === this.#options.number ? this.#options.id : 0;
    if ((known?.id ?? own) < id) {
      const { timeoutMs, count } = this.#options;
      const room = Math.floor((roomForFiles() * SHARE_OF_FILES) / count);
      const connections = Math.max(2, Math.min(MOST_CONNECTIONS, room));
      if (known !== undefined) closePeer(known);
      const forward = new SocketForward(socket, { connections, timeoutMs });
      const claims = new ClaimChannel(claimsPath(socket), this.#options.number);
      this.#peers.set(number, { id, forward, claims });
    }
  }

  #forget(gone: number): void {
    for (const [number, peer] of this.#peers) {
      if (peer.id !== gone) continue;
      this.#peers.delete(number);
      closePeer(peer);
    }
  }

  /**
   * The process that owns an original, undefined for this one. Rendezvous hashing: where a process comes or goes,
   * only its originals have another owner.
   */
  #ownerOf(hash: number): Peer | undefined {
    let owner = this.#peers.get(this.#options.number);
    let most = weightOf(hash, this.#options.number);
    for (const [number, peer] of this.#peers) {
      const weight = weightOf(hash, number);
      if (weight <= most) continue;
      most = weight;
      owner = peer;
    }
    return owner;
  }
}

function closePeer({ forward, claims }: Peer): void {
  forward.close();
  claims.close();
}

/** Where a process that listens at a socket answers claims. */
function claimsPath(socket: string): string {
  return `${socket}-c`;
}

function weightOf(hash: number, number: number): number {
  return mixed(hash ^ Math.imul(number, 0x9e37_79b1));
}

/** The finalizer of MurmurHash3: each bit of the result depends on all. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
