import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { packageFile } from "../files/package-file.ts";
import type { ViewName } from "./page-data.ts";

/** The folder of the built application, which is also its path on the server. */
export const FOLDER = "dist/page/";
export const ASSET_PATH = "/page/";

/** The list of files written by `scripts/build-page.ts`. */
export interface AssetList {
  /** The script that pages load. */
  readonly script: string;
  readonly styles: readonly string[];
  /** Additional files of each view. */
  readonly views: Readonly<Partial<Record<ViewName, readonly string[]>>>;
  readonly files: readonly string[];
}

let list: AssetList | undefined;

/** The files of the application; undefined if it was not built: pages then have no script. */
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

/** For names with a content digest. */
const DIGEST = /-[\w-]{8}\.\w+$/;

const cache = new Map<string, Asset>();

/**
 * A file of the application by name, compressed if the client accepts it. Names contain a digest, so
 * clients may cache files. Every requested form stays in memory: a few hundred kilobytes.
 */
export function pageAsset(name: string, accepted: string = ""): Asset | undefined {
  if (assetList()?.files.includes(name) !== true) return undefined;
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : "identity";
  const key = `${encoding} ${name}`;
  const file = packageFile(`${FOLDER}${name}`);
  const ready = cache.get(key);
  // A newer build may have replaced the file.
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
  cache.set(key, { body, headers });
  return { body, headers };
}

const ENCODERS = {
  br: (plain: Buffer) =>
    brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (plain: Buffer) => gzipSync(plain),
  identity: (plain: Buffer) => plain,
};
