import { BlockList, isIP, type LookupFunction } from "node:net";
import { lookup as dnsLookup } from "node:dns/promises";
import { isMementoMapError, MementoMapError } from "../errors.ts";

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001:db8::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv6");
}

/**
 * Whether an address is not one of the public Internet: loopback, private, link-local, reserved,
 * multicast, also where an IPv4 address is written or translated as IPv6. Text that is not an address
 * counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return PRIVATE.check(address, "ipv4");
  if (family !== 6) return true;
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined) return PRIVATE.check(embedded, "ipv4");
  return PRIVATE.check(address, "ipv6");
}

/** The IPv4 address within `::ffff:a.b.c.d`, `64:ff9b::/96` (NAT64) and `2002::/16` (6to4). */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  const isTranslated =
    groups[0] === 0x64 && groups[1] === 0xff_9b && groups.slice(2, 6).every((group) => group === 0);
  if (isMapped || isTranslated) return dotted(groups[6], groups[7]);
  return groups[0] === 0x20_02 ? dotted(groups[1], groups[2]) : undefined;
}

function groupsOf(address: string): number[] {
  const [bare = ""] = address.split("%");
  const hex = bare.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, a, b, c, d) => {
    const high = Number(a) * 256 + Number(b);
    return `${high.toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`;
  });
  const [head = "", tail] = hex.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0");
  return [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16));
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** Behind a proxy there may be no resolver, and to find that out takes long. */
const LOOKUP_MS = 2000;

/**
 * Why a name may not be asked for through a proxy, as far as this machine knows.
 *
 * The proxy resolves names, so that this machine does not see which address it connects to. A name that this
 * machine knows to be at a private address is refused all the same; one that it does not know is left
 * to the proxy.
 *
 * @param lookup fails with an error of ours for names at private addresses.
 */
export function refusedName(
  host: string,
  lookup: LookupFunction,
): Promise<MementoMapError | undefined> {
  return new Promise((resolve) => {
    // Addresses were looked at before.
    if (isIP(host) !== 0) {
      resolve(undefined);
      return;
    }
    const timer = setTimeout(() => resolve(undefined), LOOKUP_MS);
    lookup(host, { all: true }, (error) => {
      clearTimeout(timer);
      resolve(isMementoMapError(error) ? error : undefined);
    });
  });
}

/** Finds the addresses of a host. */
export type Resolver = (
  host: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** What sockets look names up with. */
export interface ResolverLookups {
  /** For addresses of the public Internet only. */
  readonly checked: LookupFunction;
  readonly unchecked: LookupFunction;
}

/**
 * Makes what sockets look names up with.
 *
 * @param resolver default the system's.
 * @param refusal the error for a host at a private address.
 */
export function resolverLookups(
  resolver: Resolver = systemResolver,
  refusal: (host: string, address: string) => Error,
): ResolverLookups {
  const checked: Resolver = async (host) => {
    const found = await resolver(host);
    const bad = found.find(({ address }) => isPrivateAddress(address));
    if (bad !== undefined) throw refusal(host, bad.address);
    return found;
  };
  return { checked: lookupBy(checked), unchecked: lookupBy(resolver) };
}

const systemResolver: Resolver = (host) => dnsLookup(host, { all: true });

function lookupBy(resolver: Resolver): LookupFunction {
  return (host, options, callback) => {
    resolver(host).then(
      (found) => {
        const [first] = found;
        if (first === undefined) callback(noAddress(host), "");
        else if (options.all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), "");
      },
    );
  };
}

function noAddress(host: string): MementoMapError {
  return new MementoMapError("MM_HTTP", "the host has no address", { position: { source: host } });
}
