import { MementoMapError, quote } from "../../errors.ts";
import { originalUri } from "../../http/original-uri.ts";
import { isPrivateAddress } from "../../http/private-address.ts";
import { networkOf } from "../../http/rate-limit.ts";
import type { AggregateRequest } from "../aggregator.ts";
import type { RouteRequest } from "../route/decision.ts";
import type { Exchange } from "./exchange.ts";
import { NO_PREFERENCES, type Preferences, readPreferences } from "./preferences.ts";

/** What a client asks of archives. */
export interface LookupRequest {
  readonly request: AggregateRequest;
  readonly preferences: Preferences;
}

/**
 * Reads what a client asks for about an original.
 *
 * @throws MM_BAD_URI; MM_BAD_INPUT for a preference that cannot be understood, and when none of the
 *   archives that it names exists.
 */
export function lookupRequest(
  { request, options, client }: Exchange,
  rawUri: string,
): LookupRequest {
  const uri = originalUri(rawUri);
  const preferences = readPreferences(request.headers);
  const { waitMs } = preferences;
  const route = routeRequest(preferences, options, uri);
  const network = teachingNetwork(client.address);
  const mayForce = options.ignoresForced !== true;
  const isBroadcast = preferences.isBroadcast && mayForce;
  const isFresh = preferences.cacheControl === "no-cache";
  const cacheControl = isFresh && !mayForce ? undefined : preferences.cacheControl;
  const isForced = isBroadcast || (isFresh && mayForce);
  const more = { cacheControl, isBroadcast, waitMs, network, isForced };
  return { request: { ...route, ...more }, preferences };
}

function routeRequest(
  { route }: Preferences,
  { defaults, aggregator }: Exchange["options"],
  uri: string,
): RouteRequest {
  if (route === NO_PREFERENCES.route) return { ...defaults, uri };
  const { archives } = aggregator.router;
  if (route.only !== undefined && !archives.some(({ id }) => route.only?.includes(id))) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `there is no archive ${route.only.map((id) => quote(id)).join(", ")}; /archives.json lists the archives`,
    );
  }
  return { ...defaults, ...route, uri };
}

/**
 * The network of a client, `203.0.113` or `2001:db8:1`; undefined for addresses within the operator's own network,
 * and where nobody knows it.
 */
function teachingNetwork(address: string): string | undefined {
  if (address === "" || isPrivateAddress(address)) return undefined;
  const [, ipv4] = /(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(address) ?? [];
  return ipv4 ?? networkOf(address).split(":").slice(0, 3).join(":");
}
