import { basename, dirname, join } from "node:path";
import type { CachePolicyObject } from "http-cache-semantics";
import type { DiscoveryMethod } from "./discover.ts";

/** One resource a map was made of: the whole, or a page. */
export interface FetchedPart {
  readonly url: string;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** What is known about a map that was fetched; kept in a small file beside it. */
export interface FetchState {
  /** The address that was asked for. */
  readonly address: string;
  readonly archive: string;
  readonly method: DiscoveryMethod | "direct";
  readonly parts: readonly FetchedPart[];
  /** The freshness of the first part, by RFC 9111. */
  readonly policy: CachePolicyObject;
  /** The size of the map's file, by which a file that was changed by others is known. */
  readonly bytes: number;
}

/** A hidden file beside the map: `.map.ukvs.fetch.json`. */
export function statePath(target: string): string {
  return join(dirname(target), `.${basename(target)}.fetch.json`);
}

/** Where a download that is not complete is kept, and what it is of. */
export function partPaths(target: string): { readonly part: string; readonly about: string } {
  const part = join(dirname(target), `.${basename(target)}.part`);
  return { part, about: `${part}.json` };
}
