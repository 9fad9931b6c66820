import type { LookupFunction } from "node:net";
import type { ProxySettings } from "../../http/proxy-settings.ts";
import type { AnswerReceiver, Exchange, Network, NetworkRequest } from "./exchange.ts";
import { OriginPools } from "./origin-pools.ts";
import { UndiciExchange } from "./undici-exchange.ts";
import { splitAddress } from "./web-address.ts";

export interface UndiciNetworkOptions {
  /** How long a connection may take to be made; default 5 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Connections to an origin that is no archive's; default 16. */
  readonly connections?: number | undefined;
  /** Whether redirects may lead to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** Default 5. */
  readonly maxRedirects?: number | undefined;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
}

/**
 * Sends requests over connections that are kept open, by undici's `dispatch`.
 *
 * Paths go out byte for byte. Redirects are followed to public addresses and trusted origins only,
 * bodies come decompressed. It waits for ever: whoever sends a request aborts it when it is late.
 */
export class UndiciNetwork implements Network {
  readonly #pools: OriginPools;
  readonly #maxRedirects: number;

  constructor(options: UndiciNetworkOptions = {}) {
    this.#maxRedirects = options.maxRedirects ?? 5;
    this.#pools = new OriginPools({
      connectTimeoutMs: options.connectTimeoutMs ?? 5000,
      connections: options.connections ?? 16,
      allowsPrivate: options.allowsPrivate ?? false,
      lookup: options.lookup,
      proxies: options.proxies,
    });
  }

  /**
   * Lets the origin of an address be at a private address, and have so many connections: it is one
   * that the user named.
   */
  trust(url: string, connections: number): void {
    this.#pools.trust(splitAddress(url).origin, connections);
  }

  /** Trusts the origins of these addresses only; requests under way go on. */
  trustOnly(urls: readonly string[]): void {
    this.#pools.trustOnly(urls.map((url) => splitAddress(url).origin));
  }

  send(request: NetworkRequest, receiver: AnswerReceiver): Exchange {
    const exchange = new UndiciExchange(this.#pools, request, receiver, this.#maxRedirects);
    exchange.begin();
    return exchange;
  }

  /** Cuts all connections. */
  close(): Promise<void> {
    return this.#pools.close();
  }
}
