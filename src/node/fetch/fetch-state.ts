import { readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { CachePolicyObject } from "http-cache-semantics";
import type { DiscoveryMethod } from "../../discover/discover.ts";
import type { Interrupt } from "../interrupt.ts";
import { ioError, systemCode } from "../io-error.ts";
import { withOutput } from "../output-file.ts";

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

/** A small JSON file; undefined when there is none, or none that can be read. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw ioError(error, path);
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T; // written by this program
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // It only saves work: without it the map is fetched anew.
    await rm(path, { force: true });
    return undefined;
  }
}

/** Writes a small JSON file, whole or not at all. */
export async function writeJson(
  path: string,
  value: unknown,
  interrupt?: Interrupt,
): Promise<void> {
  await withOutput(path, { stdout: process.stdout, interrupt }, (output) =>
    output.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`)),
  );
}
