import { useEffect, useState } from "preact/hooks";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import type { SliceOptions } from "../../src/maps/explore/map-slice.ts";
import type { MapInfo } from "../../src/page/page-data.ts";
import { PAGE } from "../page-data.ts";
import type { OnProgress } from "./map-worker.ts";
import { fetchJson, type Holdings, servedSlice } from "./served-slice.ts";
import { inWorker, openInWorker, openOnce } from "./worker-client.ts";

/** A map that can be explored: from the server, from a static site, or a local file. */
export interface PageMap extends Pick<MapInfo, "id" | "records" | "isPacked" | "replay" | "href"> {
  readonly name: string;
  /** Whether it is a local file, which is never uploaded. */
  readonly isOwn: boolean;
}

let own: readonly PageMap[] = [];
const CHANGED = new EventTarget();

export function publishedMaps(): readonly PageMap[] {
  return PAGE.maps.map((map) => ({ ...map, name: publishedName(map), isOwn: false }));
}

/** The display name of a map, with its id if another map has the same name. */
export function publishedName({ id, name, archive }: MapInfo): string {
  const said = name ?? archive;
  if (said === null) return id;
  const isShared = PAGE.maps.filter((other) => (other.name ?? other.archive) === said).length > 1;
  return isShared ? `${said} (${id})` : said;
}

function allMaps(): readonly PageMap[] {
  return [...publishedMaps(), ...own];
}

/** All maps, updated when files are opened. */
export function useMaps(): readonly PageMap[] {
  const [maps, setMaps] = useState(allMaps);
  useEffect(() => {
    const update = (): void => setMaps(allMaps());
    CHANGED.addEventListener("change", update);
    update();
    return () => CHANGED.removeEventListener("change", update);
  }, []);
  return maps;
}

/** Opens a local file in the worker, without uploading it. */
export async function openFile(file: File, onProgress: OnProgress): Promise<PageMap> {
  const taken = new Set(allMaps().map((map) => map.id));
  let id = file.name;
  for (let number = 2; taken.has(id); number++) id = `${file.name} (${number})`;
  const { name, ...about } = await openInWorker(id, file, onProgress);
  const title = name === null ? id : `${name} (${id})`;
  const map = { ...about, id, name: title, replay: null, href: "", isOwn: true };
  own = [...own, map];
  CHANGED.dispatchEvent(new Event("change"));
  return map;
}

function isInWorker({ isOwn }: PageMap): boolean {
  return isOwn || PAGE.service === "static";
}

async function ready(map: PageMap, onProgress?: OnProgress): Promise<void> {
  if (map.isOwn) return;
  await openOnce(map.id, new URL(map.href, window.location.href).href, onProgress);
}

/** A part of a map and its children. */
export async function exploreMap(
  map: PageMap,
  options: SliceOptions,
  onProgress: OnProgress,
): Promise<Holdings> {
  if (isInWorker(map)) {
    await ready(map, onProgress);
    return inWorker<Holdings>((worker) => worker.explore(map.id, options));
  }
  const address = new URL(`${PAGE.base}/explore`, window.location.origin);
  address.searchParams.set("map", map.id);
  return servedSlice(address, options);
}

/** Whether maps can be compared: local files only with maps that can be fetched. */
export function canCompare(maps: readonly PageMap[]): boolean {
  const isMixed = maps.some(({ isOwn }) => isOwn);
  return !isMixed || maps.every(({ isOwn, href }) => isOwn || href !== "");
}

/** Compares maps. If one is a local file, the maps of the server are fetched. */
export async function compareMaps(
  maps: readonly PageMap[],
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<MapComparison> {
  const ids = maps.map(({ id }) => id);
  if (maps.some(isInWorker)) {
    for (const map of maps) await ready(map, onProgress);
    return inWorker((worker) => worker.compare(ids));
  }
  const query = new URLSearchParams(ids.map((id) => ["map", id]));
  return getJson<MapComparison>(`/compare?${query.toString()}`, signal);
}

/** Looks a URI up in the maps that are open in the browser. */
export async function lookupHere(
  uri: string,
): Promise<readonly { readonly map: PageMap; readonly answer: Answer }[]> {
  return Promise.all(
    allMaps()
      .filter(isInWorker)
      .map(async (map) => {
        await ready(map);
        return { map, answer: await inWorker((worker) => worker.lookup(map.id, uri)) };
      }),
  );
}

export function getJson<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  return fetchJson(PAGE.base + path, signal);
}

/** The JSON that the server embedded for the first view. */
export function answered(path: string): unknown {
  return PAGE.answers[path];
}
