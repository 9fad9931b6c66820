import { isIP, type LookupFunction } from "node:net";
import { lookup as systemLookup } from "node:dns";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { Networks } from "./networks.ts";

const PRIVATE_IPV4 = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24",
  "192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
];
/** With translated addresses (64:ff9b:1::, ::ffff:0:0:0), Teredo (in 2001::/23) and segment routing (5f00::). */
const PRIVATE_IPV6 = [
  "::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7",
  "fe80::/10 fec0::/10 ff00::/8",
];

const PRIVATE = new Networks(PRIVATE_IPV6.join(" ").split(" "));
for (const network of PRIVATE_IPV4.join(" ").split(" ")) {
  PRIVATE.add(network);
  // As IPv6 has them: mapped, translated (NAT64), and of 6to4.
  const [address = "", prefix] = network.split("/");
  const [a, b, c, d] = address.split(".").map(Number);
  const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  PRIVATE.add(`::ffff:${hex}/${96 + Number(prefix)}`);
  PRIVATE.add(`64:ff9b::${hex}/${96 + Number(prefix)}`);
  PRIVATE.add(`2002:${hex}::/${16 + Number(prefix)}`);
}

/**
 * Whether an address is not one of the public Internet: loopback, private, link-local, reserved,
 * multicast, also where an IPv4 address is written or translated as IPv6. Text that is not an address
 * counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 0 || PRIVATE.has(address);
}

/** `[::1]` → `::1`: the host of a URL as an address or a name. */
export function bareHost(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** The private address that is written as the host of a URL; undefined for others and for names. */
export function privateHost(hostname: string): string | undefined {
  const host = bareHost(hostname);
  return isIP(host) !== 0 && isPrivateAddress(host) ? host : undefined;
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

/**
 * What sockets look names up with. A name at a private address fails, unless it may be there.
 *
 * Checked where the connection is made, so that a name which resolves to something else the second
 * time gains nothing.
 *
 * @param lookup how names become addresses; default the system's way.
 * @param onFound called with whether a name that did not fail is at a private address.
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
      // It throws for names that it takes for no names; a socket does not expect that.
      process.nextTick(callback, error, "");
    }
  };
}

/** The error for an address, or a name, that leads to a private one. */
export function privateAddressRefusal(place: string, address: string): MementoMapError {
  return new MementoMapError(
    "MM_REFUSED",
    `it leads to ${address}, which is a private address; allow private addresses (--allow-private) if this is intended`,
    { position: { source: place }, reason: "private-address" },
  );
}

/** What a name resolved to. A resolver that failed, or a broken one, gives nothing at all. */
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
