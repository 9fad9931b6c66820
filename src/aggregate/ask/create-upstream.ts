import type { LookupFunction } from "node:net";
import { userAgent } from "../../files/package-file.ts";
import { ACCEPTED_CODINGS } from "../../http/body-decoder.ts";
import { NodeClient } from "../../http/node-client.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { Asker, type AskOptions } from "./ask.ts";
import { type Cache, memoryCache } from "./cache.ts";

export interface UpstreamOptions extends Omit<AskOptions, "cache"> {
  /** Cache of answers; default 64 MiB of memory. */
  readonly cache?: Cache | "off" | undefined;
  /** Contact for archives: a mail address or a page. Sent with every request. */
  readonly contact?: string | undefined;
  /** The complete `User-Agent`; default `mementomap/VERSION (+CONTACT)`. */
  readonly agent?: string | undefined;
  /** Connect timeout; default 5 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether redirects and links may lead to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** Resolves host names; default the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
  /** Proxies by request; default none. */
  readonly proxies?: ProxySettings | undefined;
}

/** Limit on response headers: a TimeGate may name very many mementos. */
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 256;
const CACHE_BYTES = 64 * 2 ** 20;

/**
 * Creates the upstream that queries archives over the network. The origins of archives are trusted, even at private
 * addresses; redirects and links may lead only to them and to the public Internet.
 */
export function createUpstream(options: UpstreamOptions = {}): Asker {
  const { allowsPrivate, connectTimeoutMs = 5000, contact, lookup, proxies } = options;
  const client = new NodeClient({
    trustedOrigins: { includes: (origin) => asker.isListed(origin) },
    allowsPrivate,
    headers: {
      "user-agent": options.agent ?? userAgent(contact),
      "accept-encoding": ACCEPTED_CODINGS,
    },
    connectTimeoutMs,
    connections: MAX_CONNECTIONS,
    maxHeaderBytes: MAX_HEADER_BYTES,
    lookup,
    proxies,
  });
  const { cache: requested = memoryCache(CACHE_BYTES) } = options;
  const cache = requested === "off" ? undefined : requested;
  const asker = new Asker(client, { ...options, cache });
  return asker;
}
