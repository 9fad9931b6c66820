import { MemoryIndex } from "../../../src/lookup/memory-index.ts";
import { type Archive, parseArchiveList } from "../../../src/aggregate/route/archive.ts";
import type { Decision } from "../../../src/aggregate/route/decision.ts";
import { MapRouter, type MapRouterOptions } from "../../../src/aggregate/route/map-router.ts";
import type { RoutedMap } from "../../../src/aggregate/route/routed-map.ts";

/** Archives by their ids, with what else is to be said of them. */
export function archivesOf(members: Readonly<Record<string, object>>): Archive[] {
  const entries = Object.entries(members).map(([id, more]) => ({
    id,
    timemap: `http://${id}.example/timemap/`,
    timegate: `http://${id}.example/timegate/`,
    ...more,
  }));
  return parseArchiveList(JSON.stringify(entries), "archives.json");
}

export function mapOf(text: string, more: Partial<RoutedMap> = {}): RoutedMap {
  const index = MemoryIndex.build(new TextEncoder().encode(text));
  return { index, updatedAt: undefined, ...more };
}

/** A router of archives whose maps are given by their ids; nothing is left to chance. */
export async function routerOf(
  archives: readonly Archive[],
  maps: Readonly<Record<string, string | RoutedMap>>,
  options: MapRouterOptions = {},
): Promise<MapRouter> {
  const router = new MapRouter(archives, { sampleShare: 0, ...options });
  const routed = Object.entries(maps).map(
    ([id, map]) => [id, typeof map === "string" ? mapOf(map) : map] as const,
  );
  router.replaceMaps(new Map(routed));
  return router;
}

/** `+a in-map 0.99, -b not-in-map 0` */
export function shown(decisions: readonly Decision[]): string {
  return decisions
    .map(({ archive, isAsked, reason }) => `${isAsked ? "+" : "-"}${archive.id} ${reason}`)
    .join(", ");
}
