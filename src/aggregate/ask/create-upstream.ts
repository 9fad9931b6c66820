import type { LookupFunction } from "node:net";
import { userAgent } from "../../files/package-file.ts";
import { ACCEPTED_CODINGS } from "../../http/body-decoder.ts";
import { NodeClient } from "../../http/node-client.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { Asker, type AskOptions } from "./ask.ts";
import { type Cache, memoryCache } from "./cache.ts";

export interface UpstreamOptions extends Omit<AskOptions, "cache"> {
  /** Where answers are kept; default 64 MiB of memory. */
  readonly cache?: Cache | "off" | undefined;
  /** Whom archives can write to: an address of mail or of a page. Sent with every request. */
  readonly contact?: string | undefined;
  /** The whole `User-Agent`; default `mementomap/VERSION (+CONTACT)`. */
  readonly agent?: string | undefined;
  /** How long a connection may take to be made; default 5 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether redirects and links may lead to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
}

/** Of the head of an answer: a TimeGate may name very many mementos. */
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 256;
const CACHE_BYTES = 64 * 2 ** 20;

/**
 * Makes what asks archives over the network. The origins of archives are trusted, also at private addresses; redirects
 * and links lead to those and to the public Internet only.
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
  const { cache: kept = memoryCache(CACHE_BYTES) } = options;
  const cache = kept === "off" ? undefined : kept;
  const asker = new Asker(client, { ...options, cache });
  return asker;
}
