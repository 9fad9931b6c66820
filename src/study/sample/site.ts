import type { Host } from "./host-walk.ts";
import { queries } from "./names.ts";
import { PathWalk } from "./path-walk.ts";
import type { PathStop } from "./path-walk.ts";
import { Random } from "../../bytes/random.ts";

/** A host of a sample archive, opened for one walk over what it holds. */
export interface Site {
  /** As its URLs have it: `www.example.pt`. */
  readonly authority: string;
  readonly walk: PathWalk;
}

/** Opens a host. What it holds depends on the seed and the host only. */
export function openSite(seed: number, host: Host): Site {
  const random = new Random(seed, host.surt);
  // Addresses, ports and single labels have no `www`.
  const canHaveWww = /^[a-z][^:]*,[^:]*$/.test(host.surt);
  const authority = canHaveWww && random.chance(0.6) ? `www.${host.authority}` : host.authority;
  return { authority, walk: new PathWalk(random, host.keys) };
}

/** Yields the path, or path and query, of each original at a stop, in byte order. */
export function* originalPaths(stop: PathStop): Generator<string> {
  if (stop.queries === 0) yield stop.path;
  else {
    for (const query of queries(new Random(stop.querySeed), stop.queries)) {
      yield `${stop.path}?${query}`;
    }
  }
}
