import { TOP_TLDS } from "./archive-shape.ts";
import { hostGroups, keyCount } from "./host-walk.ts";
import { pathName, strangerLabel, strangerPathName } from "./names.ts";
import { Random } from "../../bytes/random.ts";
import type { SampleOptions } from "./sample-archive.ts";
import { openSite, originalPaths } from "./path-walk.ts";

export interface SampleLookupOptions extends Pick<SampleOptions, "lines" | "seed"> {
  readonly count: number;
  /** The share of held originals. Default 0.05. */
  readonly held?: number | undefined;
}

interface Place {
  readonly authority: string;
  /** With its query, if it has one. */
  readonly path: string;
}

/** The share of near misses. */
const NEAR_SHARE = 0.35;
const MAX_NEAR_PLACES = 20_000;

/**
 * Yields URIs to look up in the sample archive of the same seed and lines, in random order.
 *
 * By default 5 % are originals it holds, drawn evenly over its keys, 35 % are near misses and 60 %
 * are strangers. A near miss is another page in the directory of a held one, a page below it,
 * another page of its host, or a new sub-domain. A stranger is a page of a domain that is not in the
 * archive. Misses are certain: their names never occur in the archive.
 *
 * Walks the archive's tree once before the first lookup, without its captures, and holds the
 * originals drawn from it: one for each held lookup, or up to 20,000 for near misses.
 */
export function* sampleLookups(options: SampleLookupOptions): Generator<string> {
  const { lines, count, seed = 1, held = 0.05 } = options;
  const random = new Random(seed, "lookups");
  let heldLeft = Math.round(count * held);
  let nearLeft = Math.min(count - heldLeft, Math.round(count * NEAR_SHARE));
  const places = drawPlaces(seed, lines, Math.max(heldLeft, Math.min(nearLeft, MAX_NEAR_PLACES)));
  shuffle(random, places);
  for (let left = count; left > 0; left--) {
    const at = random.below(left);
    if (at < heldLeft) {
      // If the archive has fewer keys than held lookups, some are repeated.
      const { authority, path } = places[--heldLeft % places.length];
      yield `http://${authority}${path}`;
    } else if (at < heldLeft + nearLeft) {
      nearLeft--;
      yield `http://${nearMiss(random, random.pick(places))}`;
    } else yield `http://${stranger(random)}`;
  }
}

/** The first originals of `count` keys, or of all, evenly spread over the archive. */
function drawPlaces(seed: number, lines: number, count: number): Place[] {
  const places: Place[] = [];
  if (count === 0) return places;
  const step = Math.max(1, keyCount(lines) / count);
  let key = 0;
  for (const group of hostGroups(seed, lines)) {
    for (const host of group.hosts) {
      const { authority, stops } = openSite(seed, host);
      for (const stop of stops) {
        if (!stop.startsKey || key++ < places.length * step) continue;
        const [path] = originalPaths(stop);
        places.push({ authority, path });
      }
    }
  }
  return places;
}

function nearMiss(random: Random, { authority, path }: Place): string {
  const bare = path.replace(/\?.*/, "");
  const name = strangerPathName(random);
  const style = random.below(10);
  if (style < 4) return `${authority}${bare.slice(0, bare.lastIndexOf("/") + 1)}${name}`;
  if (style < 6) return `${authority}${bare === "/" ? "" : bare}/${name}`;
  const isNamed = /^[a-z].*\./.test(authority);
  if (style < 9 || !isNamed) return `${authority}/${name}`;
  return `${strangerLabel(random)}.${authority.replace(/^www\./, "")}/`;
}

function stranger(random: Random): string {
  const tld = random.chance(0.5) ? "com" : random.pick(TOP_TLDS).tld;
  let uri = `${random.chance(0.6) ? "www." : ""}${strangerLabel(random)}.${tld}/`;
  for (let depth = random.below(4); depth > 0; depth--) {
    uri += pathName(random, undefined) + (depth > 1 ? "/" : "");
  }
  return uri;
}

function shuffle(random: Random, places: Place[]): void {
  for (let i = places.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [places[i], places[j]] = [places[j], places[i]];
  }
}
