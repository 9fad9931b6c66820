import { existsSync, readFileSync } from "node:fs";
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

let known: AssetList | "none" | undefined;

/** The files of the application; undefined where it was not built, and pages do without script. */
export function assetList(): AssetList | undefined {
  if (known === undefined) {
    const file = packageFile(`${FOLDER}page.json`);
    known =
      file !== undefined && existsSync(file)
        ? (JSON.parse(readFileSync(file, "utf8")) as AssetList) // our own file
        : "none";
  }
  return known === "none" ? undefined : known;
}

export interface Asset {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  wasm: "application/wasm",
  svg: "image/svg+xml",
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
  const ready = held.get(key) ?? readAsset(name, encoding);
  if (ready !== undefined) held.set(key, ready);
  return ready;
}

function readAsset(name: string, encoding: "br" | "gzip" | "identity"): Asset | undefined {
  const file = packageFile(`${FOLDER}${name}`);
  // Another build may have taken its place.
  if (file === undefined || !existsSync(file)) return undefined;
  const plain = readFileSync(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const body =
    encoding === "br"
      ? brotliCompressSync(plain, quality)
      : encoding === "gzip"
        ? gzipSync(plain)
        : plain;
  return {
    body,
    headers: {
      "Content-Type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
      "Content-Length": String(body.length),
      "Cache-Control": `public, max-age=${DIGEST.test(name) ? "31536000, immutable" : "3600"}`,
      Vary: "Accept-Encoding",
      "X-Content-Type-Options": "nosniff",
      ...(encoding === "identity" ? {} : { "Content-Encoding": encoding }),
    },
  };
}
