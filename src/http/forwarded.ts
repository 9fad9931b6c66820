import { isIP } from "node:net";
import { MementoMapError, quote } from "../errors.ts";
import { Networks } from "./networks.ts";
import type { HttpRequest } from "./reply.ts";

/** How a client sees the server, behind proxies or not. */
export interface ClientView {
  readonly address: string;
  readonly protocol: "http" | "https";
  /** The requested host and port; undefined if missing or not valid in a URI. */
  readonly host: string | undefined;
  /** The path prefix that a proxy strips before forwarding; `""`, or `/a/b`. */
  readonly prefix: string;
}

const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  [
    "private",
    ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"],
  ],
  ["any", ["0.0.0.0/0", "::/0"]],
]);
const HOST = /^[\w.:[\]-]+$/;
const PREFIX = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/;
/** Only the nearest hops count, so that a client cannot hide behind a long list. */
const MAX_HOPS = 100;
const MAX_PREFIX_CHARACTERS = 1024;

/**
 * The proxies trusted to describe clients: `Forwarded` (RFC 7239), or `X-Forwarded-For`,
 * `-Proto`, `-Host` and `-Prefix`.
 *
 * The headers are read only on connections from trusted addresses. Hops are read from the last to the first: the
 * first untrusted one is the client. Earlier hops come from the client itself and are ignored.
 */
export class TrustedProxies {
  /** As configured. */
  readonly proxies: readonly string[];
  readonly #trusted = new Networks();

  /**
   * @param proxies addresses and networks: `10.0.0.1`, `192.0.2.0/24`, `2001:db8::/32`, and the names
   *   `loopback`, `private` and `any`.
   * @throws MM_USAGE for anything else.
   */
  constructor(proxies: readonly string[] = []) {
    this.proxies = proxies;
    for (const proxy of proxies.flatMap((each) => GROUPS.get(each) ?? [each])) {
      if (this.#trusted.add(proxy)) continue;
      throw new MementoMapError(
        "MM_USAGE",
        `not a proxy: ${quote(proxy)}; write addresses or networks separated by commas, such as 127.0.0.1,10.0.0.0/8, or loopback, private or any`,
      );
    }
  }

  view({ remoteAddress, protocol, headers }: HttpRequest): ClientView {
    const remote = plainAddress(remoteAddress);
    const host = validHost(headers.host);
    if (this.proxies.length === 0 || !this.#trusted.has(remote)) {
      return { address: remote, protocol, host, prefix: "" };
    }
    const hops = hopsOf(headers).slice(-MAX_HOPS);
    let at = hops.length;
    let address = remote;
    while (at > 0 && this.#trusted.has(address)) {
      const next = hops[at - 1]?.address;
      if (next === undefined) break;
      address = next;
      at -= 1;
    }
    const hop = hops[Math.min(at, hops.length - 1)];
    return {
      address,
      protocol: hop?.protocol ?? protocol,
      host: validHost(hop?.host) ?? host,
      prefix: prefixOf(headers["x-forwarded-prefix"]),
    };
  }
}

/** The connection on which a proxy received a request. */
interface Hop {
  /** Undefined if obfuscated (`unknown`, `_name`). */
  readonly address: string | undefined;
  readonly protocol: "http" | "https" | undefined;
  readonly host: string | undefined;
}

type Headers = HttpRequest["headers"];

function hopsOf(headers: Headers): Hop[] {
  const { forwarded } = headers;
  if (typeof forwarded === "string")
    return Array.from(forwarded.matchAll(FORWARDED_HOP), ([hop]) => forwardedHop(hop));
  const addresses = listOf(headers["x-forwarded-for"]);
  const protocols = listOf(headers["x-forwarded-proto"]);
  const hosts = listOf(headers["x-forwarded-host"]);
  const count = Math.max(addresses.length, protocols.length === 0 && hosts.length === 0 ? 0 : 1);
  // A proxy that sets one value instead of appending to the list means it for all hops.
  const of = (list: readonly string[], hop: number): string | undefined =>
    list.length === count ? list[hop] : list.at(-1);
  return Array.from({ length: count }, (_, hop) => ({
    address: addressOf(addresses[hop] ?? ""),
    protocol: protocolOf(of(protocols, hop)),
    host: of(hosts, hop),
  }));
}

/** One hop; hops are separated by commas outside quotes. */
const FORWARDED_HOP = /(?:[^,"]|"(?:[^"\\]|\\[^])*(?:"|$))+/g;
const FORWARDED_PAIR = /\b(for|proto|host)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^";\s]*))/gi;

/** `for=192.0.2.43;proto=https;host="example.org:8443"` */
function forwardedHop(text: string): Hop {
  const pairs = new Map(
    Array.from(text.matchAll(FORWARDED_PAIR), ([, name, quoted, bare]) => {
      return [name.toLowerCase(), quoted?.replaceAll(/\\([^])/g, "$1") ?? bare];
    }),
  );
  return {
    address: addressOf(pairs.get("for") ?? ""),
    protocol: protocolOf(pairs.get("proto")),
    host: pairs.get("host"),
  };
}

function listOf(value: string | readonly string[] | undefined): string[] {
  if (value === undefined) return [];
  const text = typeof value === "string" ? value : value.join(",");
  return text.split(",").map((item) => item.trim());
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80` → the address. */
function addressOf(text: string): string | undefined {
  const [, bracketed] = /^\[(.*)\](?::\d+)?$/.exec(text) ?? [];
  const [, withPort] = /^([\d.]+):\d+$/.exec(text) ?? [];
  const address = plainAddress(bracketed ?? withPort ?? text);
  return isIP(address) === 0 ? undefined : address;
}

/** Dual-stack sockets report IPv4 addresses as IPv4-mapped IPv6. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, "");
}

function protocolOf(text: string | undefined): Hop["protocol"] {
  const name = text?.toLowerCase();
  return name === "http" || name === "https" ? name : undefined;
}

function validHost(host: string | undefined): string | undefined {
  return host !== undefined && HOST.test(host) && URL.canParse(`http://${host}/`)
    ? host
    : undefined;
}

/** The last value is that of the nearest proxy. */
function prefixOf(value: string | readonly string[] | undefined): string {
  const prefix = listOf(value).at(-1) ?? "";
  if (prefix.length > MAX_PREFIX_CHARACTERS) return "";
  const path = prefix.replace(/(?<!\/)\/+$/, "");
  return PREFIX.test(path) ? path : "";
}
