import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { packageFile } from "../files/package-file.ts";
import type { ViewName } from "./page-data.ts";

/** The folder of the built application, and where it is served. */
export const FOLDER = "dist/page/";
export const ASSET_PATH = "/page/";

/** What `scripts/build-page.ts` tells about the files it wrote. */
export interface AssetList {
  /** The script that pages load. */
  readonly script: string;
  readonly styles: readonly string[];
  /** What each view loads besides. */
  readonly views: Readonly<Partial<Record<ViewName, readonly string[]>>>;
  readonly files: readonly string[];
}

let list: AssetList | undefined;

/** The files of the application; undefined where it was not built, and pages do without script. */
export function assetList(): AssetList | undefined {
  const file = packageFile(`${FOLDER}page.json`);
  if (list === undefined && file !== undefined && existsSync(file)) {
    list = JSON.parse(readFileSync(file, "utf8")) as AssetList; // our own file
  }
  return list;
}

export interface Asset {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** Of names that change with what is in the file. */
const DIGEST = /-[\w-]{8}\.\w+$/;

const held = new Map<string, Asset>();

/**
 * A file of the application by its name, compressed where the client allows it. Names carry a digest,
 * so that clients may keep files. Holds every form that was asked for: a few hundred kilobytes.
 */
export function pageAsset(name: string, accepted: string = ""): Asset | undefined {
  if (assetList()?.files.includes(name) !== true) return undefined;
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : "identity";
  const key = `${encoding} ${name}`;
  const file = packageFile(`${FOLDER}${name}`);
  const ready = held.get(key);
  // Another build may have taken the place of the file.
  if (ready !== undefined || file === undefined || !existsSync(file)) return ready;
  const body = ENCODERS[encoding](readFileSync(file));
  const headers = {
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    "Content-Length": String(body.length),
    "Cache-Control": `public, max-age=${DIGEST.test(name) ? "31536000, immutable" : "3600"}`,
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    ...(encoding === "identity" ? {} : { "Content-Encoding": encoding }),
  };
  held.set(key, { body, headers });
  return { body, headers };
}

const ENCODERS = {
  br: (plain: Buffer) =>
    brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (plain: Buffer) => gzipSync(plain),
  identity: (plain: Buffer) => plain,
};
