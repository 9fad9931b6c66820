import { isIP, type LookupFunction } from "node:net";
import { lookup as systemLookup } from "node:dns";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { Networks } from "./networks.ts";

const PRIVATE_IPV4 = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24",
  "192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
];
/** Includes translated addresses (64:ff9b:1::, ::ffff:0:0:0), Teredo (in 2001::/23) and segment routing (5f00::). */
const PRIVATE_IPV6 = [
  "::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7",
  "fe80::/10 fec0::/10 ff00::/8",
];

const PRIVATE = new Networks(PRIVATE_IPV6.join(" ").split(" "));
for (const network of PRIVATE_IPV4.join(" ").split(" ")) {
  PRIVATE.add(network);
  // Their IPv6 forms: mapped, translated (NAT64), and 6to4.
  const [address = "", prefix] = network.split("/");
  const [a, b, c, d] = address.split(".").map(Number);
  const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  PRIVATE.add(`::ffff:${hex}/${96 + Number(prefix)}`);
  PRIVATE.add(`64:ff9b::${hex}/${96 + Number(prefix)}`);
  PRIVATE.add(`2002:${hex}::/${16 + Number(prefix)}`);
}

/**
 * Whether an address is outside the public Internet: loopback, private, link-local, reserved or multicast, including
 * IPv4 addresses mapped or translated to IPv6. Text that is not an address counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 0 || PRIVATE.has(address);
}

/** `[::1]` → `::1`: the host of a URL as an address or a name. */
export function bareHost(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** The host of a URL if it is a literal private address; undefined for public addresses and names. */
export function privateHost(hostname: string): string | undefined {
  const host = bareHost(hostname);
  return isIP(host) !== 0 && isPrivateAddress(host) ? host : undefined;
}

/** Behind a proxy there may be no resolver, which takes long to detect. */
const LOOKUP_MS = 2000;

/**
 * The error for a name that must not be requested through a proxy, as far as this machine can tell.
 *
 * The proxy resolves names, so this machine does not see the address of the connection. A name that resolves to a
 * private address here is still rejected; a name that does not resolve here is left to the proxy.
 *
 * @param lookup fails with a `MementoMapError` for names at private addresses.
 */
export function refusedName(
  host: string,
  lookup: LookupFunction,
): Promise<MementoMapError | undefined> {
  return new Promise((resolve) => {
    // The caller has checked literal addresses.
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

/**
 * The `lookup` function of sockets. Fails for a name at a private address, unless that is allowed.
 *
 * Addresses are checked when the connection is made, so that DNS rebinding has no effect.
 *
 * @param lookup resolves host names; default the system resolver.
 * @param onFound called on success with whether the address is private.
 */
export function checkedLookup(
  lookup: LookupFunction = systemLookup,
  mayBePrivate: () => boolean,
  onFound?: (isPrivate: boolean) => void,
): LookupFunction {
  return (host, options, callback) => {
    const done: typeof callback = (error, found, family) => {
      if (error !== null) {
        callback(error, "");
        return;
      }
      const addresses = addressesOf(found);
      const bad = addresses.find(isPrivateAddress);
      if (addresses.length === 0) {
        callback(noAddress(host), "");
      } else if (bad !== undefined && !mayBePrivate()) {
        callback(privateAddressRefusal(host, bad), "");
      } else {
        onFound?.(bad !== undefined);
        callback(null, found, family);
      }
    };
    try {
      lookup(host, options, done);
    } catch (error) {
      // It throws for invalid names, which a socket does not expect.
      process.nextTick(callback, error, "");
    }
  };
}

/** The error for a host at a private address. */
export function privateAddressRefusal(place: string, address: string): MementoMapError {
  return new MementoMapError(
    "MM_REFUSED",
    `resolves to the private address ${address}; use --allow-private if this is intended`,
    { position: { source: place }, reason: "private-address" },
  );
}

/** The resolved addresses; empty if the resolver failed. */
function addressesOf(found: unknown): string[] {
  if (typeof found === "string") return [found];
  return Array.isArray(found)
    ? found.map((each: { readonly address: string }) => each.address)
    : [];
}

function noAddress(host: string): MementoMapError {
  return new MementoMapError("MM_HTTP", "the host has no address", {
    position: { source: host },
    reason: "dns",
  });
}
