import { lookup as dnsLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { MementoMapError } from "../errors.ts";
import { isPrivateAddress } from "./private-address.ts";

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
