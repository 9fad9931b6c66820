import { useEffect, useState } from "preact/hooks";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import type { SliceOptions } from "../../src/maps/explore/map-slice.ts";
import type { MapInfo } from "../../src/page/page-data.ts";
import { PAGE } from "../page-data.ts";
import { fetchJson, type Holdings, servedSlice } from "./served-slice.ts";
import { callWorker } from "./worker-client.ts";
import type { MapAbout } from "./worker-messages.ts";

/** A map that can be asked: of the server, of a site of files, or a file of the reader. */
export interface PageMap {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly rows: number;
  readonly isPacked: boolean;
  /** What a URI is written behind to look at it in the archive. */
  readonly replay: string | null;
  /** Where it can be fetched from; empty for a map that the aggregator only tells about. */
  readonly href: string;
  /** Whether it is a file of the reader, which stays in the browser. */
  readonly isOwn: boolean;
}

let own: readonly PageMap[] = [];

function published(): readonly PageMap[] {
  return PAGE.maps.map((map) => ({
    id: map.id,
    name: publishedName(map),
    bytes: map.bytes,
    rows: map.records,
    isPacked: map.isPacked,
    replay: map.replay,
    href: map.href,
    isOwn: false,
  }));
}

/** What a map is called; with its id where another is called the same. */
export function publishedName({ id, name, archive }: MapInfo): string {
  const said = name ?? archive;
  if (said === null) return id;
  const isShared = PAGE.maps.filter((other) => (other.name ?? other.archive) === said).length > 1;
  return isShared ? `${said} (${id})` : said;
}

const CHANGED = new EventTarget();
/** Maps of a site of files are opened when they are first asked. */
const opened = new Map<string, Promise<MapAbout>>();

function allMaps(): readonly PageMap[] {
  return [...published(), ...own];
}

/** All maps there are, also those that are opened later. */
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

/** Opens a file of the reader. It is read in a worker, and goes nowhere. */
export async function openFile(file: File, onProgress?: (share: number) => void): Promise<PageMap> {
  const taken = new Set(allMaps().map(({ id }) => id));
  let id = file.name;
  for (let number = 2; taken.has(id); number++) id = `${file.name} (${number})`;
  const about = await callWorker<MapAbout>({ kind: "open", map: id, source: file }, onProgress);
  const map = {
    id,
    name: about.name === null ? id : `${about.name} (${id})`,
    bytes: file.size,
    rows: about.rows,
    isPacked: about.isPacked,
    replay: null,
    href: "",
    isOwn: true,
  };
  own = [...own, map];
  CHANGED.dispatchEvent(new Event("change"));
  return map;
}

function isInWorker({ isOwn }: PageMap): boolean {
  return isOwn || PAGE.service === "static";
}

async function ready(map: PageMap, onProgress?: (share: number) => void): Promise<void> {
  if (map.isOwn) return;
  const source = new URL(map.href, window.location.href).href;
  let opening = opened.get(map.id);
  if (opening === undefined) {
    opening = callWorker<MapAbout>({ kind: "open", map: map.id, source }, onProgress);
    opened.set(map.id, opening);
    opening.catch(() => opened.delete(map.id));
  }
  await opening;
}

/** A part of a map and its children. */
export async function exploreMap(
  map: PageMap,
  options: SliceOptions,
  onProgress?: (share: number) => void,
): Promise<Holdings> {
  const { signal, ...plain } = options;
  if (isInWorker(map)) {
    await ready(map, onProgress);
    return callWorker<Holdings>({ kind: "explore", map: map.id, options: plain });
  }
  const address = new URL(`${PAGE.base}/explore`, window.location.origin);
  address.searchParams.set("map", map.id);
  return servedSlice(address, plain, signal);
}

/** Whether maps can be compared: files of the reader only with maps that can be fetched. */
export function canCompare(maps: readonly PageMap[]): boolean {
  const isMixed = maps.some(({ isOwn }) => isOwn);
  return !isMixed || maps.every(({ isOwn, href }) => isOwn || href !== "");
}

/** What maps have in common. Maps of the server are fetched where a file of the reader is among them. */
export async function compareMaps(
  maps: readonly PageMap[],
  options: { readonly signal?: AbortSignal; readonly onProgress?: (share: number) => void } = {},
): Promise<MapComparison> {
  const ids = maps.map(({ id }) => id);
  if (maps.some((map) => isInWorker(map))) {
    for (const map of maps) await ready(map, options.onProgress);
    return callWorker<MapComparison>({ kind: "compare", maps: ids });
  }
  const query = new URLSearchParams(ids.map((id) => ["map", id]));
  return getJson<MapComparison>(`/compare?${query.toString()}`, options.signal);
}

/** What the maps that are open in the browser say about a URI. */
export async function lookupHere(
  uri: string,
): Promise<readonly { readonly map: PageMap; readonly answer: Answer }[]> {
  const here = allMaps().filter((map) => isInWorker(map));
  return Promise.all(
    here.map(async (map) => {
      await ready(map);
      return { map, answer: await callWorker<Answer>({ kind: "lookup", map: map.id, uri }) };
    }),
  );
}

export function getJson<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  return fetchJson(PAGE.base + path, signal);
}

/** What the server answered for the first view already. */
export function answered(path: string): unknown {
  return PAGE.answers[path];
}
