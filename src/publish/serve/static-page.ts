import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { type ByteSource, sourceChunks } from "../../bytes/byte-source.ts";
import { isPacked, PACKED_MAGIC } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { withOutput } from "../../files/output-file.ts";
import { packageFile, packageVersion } from "../../files/package-file.ts";
import { PACKED_CONTENT_TYPE } from "../../http/reply.ts";
import { packedHoldings } from "../../maps/explore/packed-holdings.ts";
import { surveyMap } from "../../maps/map-survey.ts";
import { appPage } from "../../page/app-page.ts";
import { assetList } from "../../page/page-assets.ts";
import type { MapInfo, PageData } from "../../page/page-data.ts";
import { headersOf } from "../../packed/packed-file.ts";
import { checkPacked } from "../../packed/read-packed.ts";
import { mapInfo, surveyedMapInfo } from "./map-info.ts";

/** A map to be placed beside the page. */
export interface PageMapFile {
  /** Its name in addresses. */
  readonly id: string;
  /** The file to copy, compressed or not. */
  readonly path: string;
  /** The same, decompressed. */
  readonly source: ByteSource;
  readonly bytes: number;
  readonly modified: Date;
}

/**
 * Writes the application as static files. It looks up, explores and compares maps in the browser: those
 * beside it and those that readers open.
 *
 *     index.html      the page, with the list of maps
 *     page/           its scripts and styles
 *     maps/           copies of the maps
 *     maps.json       the list of maps, for programs
 *     .well-known/mementomap   the first map, and its gzip copy beside it
 *     .nojekyll       for GitHub Pages, which skips names that begin with a dot
 *
 * All addresses are relative. Reads each map once.
 *
 * @throws MM_IO if the package lacks the application; any fault of a map.
 */
export async function writeStaticPage(
  folder: string,
  maps: readonly PageMapFile[],
  options: { readonly name?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<readonly MapInfo[]> {
  const assets = assetList();
  if (assets === undefined) {
    throw new MementoMapError("MM_IO", "dist/page is missing; install the package again");
  }
  const infos: MapInfo[] = [];
  if (maps.length > 0) await mkdir(join(folder, "maps"));
  for (const map of maps) {
    const info = await readInfo(map, options.signal);
    await copyFile(map.path, join(folder, info.href));
    infos.push(info);
  }
  await mkdir(join(folder, "page"));
  for (const asset of assets.files) {
    const file = packageFile(`dist/page/${asset}`);
    if (file !== undefined) await copyFile(file, join(folder, "page", asset));
  }
  const [main] = maps;
  if (main !== undefined) await writeWellKnown(join(folder, WELL_KNOWN), main, infos[0].isPacked);
  const list = `${JSON.stringify({ maps: infos }, undefined, 1)}\n`;
  await writeFile(join(folder, "maps.json"), list, { flush: true });
  const name = options.name ?? infos[0]?.name ?? "MementoMap";
  await writeFile(join(folder, "index.html"), await indexPage(infos, name), { flush: true });
  await writeFile(join(folder, ".nojekyll"), "", { flush: true });
  return infos;
}

const WELL_KNOWN = ".well-known/mementomap";

/** Writes a map to its well-known path; a text map also as gzip, for servers that send such copies. */
async function writeWellKnown(
  path: string,
  { source }: PageMapFile,
  isPacked: boolean,
): Promise<void> {
  await mkdir(dirname(path));
  for (const target of isPacked ? [path] : [path, `${path}.gz`]) {
    await withOutput(target, { stdout: process.stdout }, async (output) => {
      for await (const chunk of sourceChunks(source)) await output.write(chunk);
    });
  }
}

function indexPage(maps: readonly MapInfo[], name: string): Promise<string> {
  const page: Omit<PageData, "answers"> = {
    service: "static",
    base: ".",
    name,
    version: packageVersion(),
    origin: "",
    maps,
    archives: [],
  };
  const type = maps.at(0)?.isPacked === true ? PACKED_CONTENT_TYPE : "text/plain";
  const link = { rel: "mementomap", href: WELL_KNOWN, type };
  return appPage(page, "./", maps.length > 0 ? [link] : []);
}

async function readInfo(map: PageMapFile, signal: AbortSignal | undefined): Promise<MapInfo> {
  const { id, source, path, bytes, modified } = map;
  const place = { id, href: `maps/${id}${endingOf(path)}`, modified, bytes };
  if (isPacked(await source.read(0, PACKED_MAGIC.length, signal))) {
    const headers = headersOf((await checkPacked(source, { signal })).header);
    const { rows } = await packedHoldings(source, signal);
    return { ...mapInfo(headers, place), records: rows, isPacked: true };
  }
  return { ...surveyedMapInfo(await surveyMap(source, { signal }), place), pages: 0 };
}

/** Browsers would decompress a file served with a coding; the extension stays that of the file. */
function endingOf(path: string): string {
  const name = basename(path);
  const inner = extname(name.replace(/\.(?:gz|zst)$/, ""));
  const outer = /\.(?:gz|zst)$/.exec(name)?.[0] ?? "";
  return /^\.[a-z0-9]{1,8}$/i.test(inner) ? inner + outer : `.ukvs${outer}`;
}
