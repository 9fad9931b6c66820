import { basename, dirname, join } from "node:path";
import { open, rm, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { CachePolicyObject } from "http-cache-semantics";
import { acceptedForm, type DiscoveryMethod } from "./discover.ts";
import {
  type HttpClient,
  httpFailure,
  httpRefusal,
  type HttpResponse,
} from "../../http/http-client.ts";
import { ioError, isMementoMapError, MementoMapError, systemCode } from "../../errors.ts";
import { isTemporary, retryAfterMs, waitBefore } from "../../http/retry.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { isPassingFault } from "../../http/network-failure.ts";
import { readJson, writeJson } from "../../files/shared-files.ts";

/** One resource a map was made of: the whole, or a page. */
interface FetchedPart {
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

/** The files of a download that is not complete. */
interface PartPaths {
  readonly part: string;
  /** What it is of. */
  readonly about: string;
}

export function partPaths(target: string): PartPaths {
  const part = join(dirname(target), `.${basename(target)}.part`);
  return { part, about: `${part}.json` };
}

export interface DownloadOptions {
  readonly client: HttpClient;
  readonly maxBytes: number;
  /** Whether to ask for the packed form of a map; default false. */
  readonly packed?: boolean | undefined;
  /** How often to go on after a connection that was cut, or a server that was busy. */
  readonly retries: number;
  /** The first pause before going on; it doubles each time. `Retry-After` can make it longer. */
  readonly retryDelayMs: number;
  /** Called when the server asks for a longer pause than is made here. */
  readonly onToldToWait?: ((ms: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly interrupt?: Interrupt | undefined;
  /** Called with the size of each chunk; for progress. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

export interface Download {
  readonly part: FetchedPart;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface PartNote {
  readonly url: string;
  readonly etag: string;
}

const KEPT_HEADERS = "cache-control expires date age etag last-modified vary link".split(" ");
/** A pause that a server asks for is made up to this length; for more, the download is given up. */
const LONGEST_PAUSE_MS = 120_000;
const ACCEPTED_CODINGS: ReadonlySet<string> = new Set(["", "identity", "gzip", "x-gzip", "zstd"]);

/**
 * Downloads into a file, as sent: compressed if the server compresses.
 *
 * A download that is cut goes on where it stopped, now or at the next call, if the server gave a
 * strong tag: `If-Range` makes sure that both halves are of one version. A server that is busy is
 * asked again when it wants to be, if that is within two minutes. Holds one chunk.
 *
 * @throws MM_HTTP when it could not be completed; MM_REFUSED when it is larger than allowed, or in
 *   a coding that was not asked for; MM_IO.
 */
export async function download(
  url: string,
  paths: PartPaths,
  options: DownloadOptions,
): Promise<Download> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await downloadOnce(url, paths, options).catch((error: unknown): Failure => {
      checkSignal(options.signal);
      if (!isMementoMapError(error)) throw error;
      return { error, mayPass: error.code === "MM_HTTP" && isPassingFault(error) };
    });
    if ("part" in outcome) return outcome;
    const { error, askedMs, mayPass } = outcome;
    if (!mayPass) throw error;
    const backOff = { firstMs: options.retryDelayMs, longestMs: LONGEST_PAUSE_MS };
    const waitMs = waitBefore(attempt, backOff, askedMs);
    if (waitMs > LONGEST_PAUSE_MS) options.onToldToWait?.(waitMs);
    if (waitMs > LONGEST_PAUSE_MS || attempt > options.retries) throw error;
    await sleep(waitMs, undefined, { signal: options.signal });
  }
}

interface Failure {
  readonly error: MementoMapError;
  readonly askedMs?: number | undefined;
  /** Whether it may go better when tried again. */
  readonly mayPass: boolean;
}

async function downloadOnce(
  url: string,
  paths: PartPaths,
  options: DownloadOptions,
): Promise<Download | Failure> {
  const { client, signal } = options;
  const note = await readJson<PartNote>(paths.about);
  const stored = note?.url === url ? ((await fileSize(paths.part)) ?? 0) : 0;
  const isResumed = note !== undefined && stored > 0;
  const response = await client.request(url, {
    headers: {
      "Accept-Encoding": acceptEncoding(),
      ...acceptedForm(options.packed),
      ...(isResumed ? { Range: `bytes=${stored}-`, "If-Range": note.etag } : {}),
    },
    signal,
  });
  const isRest = isResumed && continues(response, note, stored);
  if (response.status === 200 || isRest) {
    await store({ url, response }, paths, isRest ? stored : 0, options);
    return downloadOf(response);
  }
  await response.discard();
  if (stored === 0) return badStatus(response);
  // What was stored is not the beginning of what is there now.
  await forget(paths);
  return downloadOnce(url, paths, options);
}

/** What is remembered of a response. */
function downloadOf(response: HttpResponse): Download {
  const headers = keptHeaders(response, KEPT_HEADERS);
  const { etag, "last-modified": lastModified } = headers;
  return { status: response.status, headers, part: { url: response.url, etag, lastModified } };
}

export async function forget(paths: PartPaths): Promise<void> {
  await rm(paths.about, { force: true });
  await rm(paths.part, { force: true });
}

async function store(
  { url, response }: { readonly url: string; readonly response: HttpResponse },
  { part, about }: PartPaths,
  from: number,
  { maxBytes, signal, interrupt, onBytes }: DownloadOptions,
): Promise<void> {
  const coding = (response.headers.get("content-encoding") ?? "").trim().toLowerCase();
  const declared = Number(response.headers.get("content-length") ?? 0);
  if (!ACCEPTED_CODINGS.has(coding) || from + declared > maxBytes) {
    await response.discard();
    throw ACCEPTED_CODINGS.has(coding)
      ? tooLarge(response.url, maxBytes)
      : httpRefusal(response.url, `unexpected Content-Encoding: ${coding}`);
  }
  const etag = response.headers.get("etag") ?? "";
  if (from === 0) {
    await forget({ part, about });
    const note: PartNote = { url, etag };
    if (etag.startsWith('"')) await writeJson(about, note, interrupt);
  }
  const failed = (error: unknown): never => {
    throw ioError(error, part);
  };
  const file = await open(part, from === 0 ? "w" : "a").catch(failed);
  try {
    let bytes = from;
    for await (const chunk of response.body) {
      checkSignal(signal);
      bytes += chunk.length;
      if (bytes > maxBytes) {
        await response.discard();
        throw tooLarge(response.url, maxBytes);
      }
      await file.appendFile(chunk).catch(failed);
      onBytes?.(chunk.length);
    }
  } finally {
    await file.close();
  }
}

/** Whether a 206 is the rest of what is stored. */
function continues(response: HttpResponse, note: PartNote, stored: number): boolean {
  const range = response.headers.get("content-range") ?? "";
  const isSameVersion = (response.headers.get("etag") ?? note.etag) === note.etag;
  return response.status === 206 && isSameVersion && range.startsWith(`bytes ${stored}-`);
}

/** zstd only where Node decodes it itself, which also bounds the memory it takes. */
function acceptEncoding(): string {
  return "zstd" in process.versions ? "zstd, gzip" : "gzip";
}

/** The headers of these names that a response has. */
export function keptHeaders(
  { headers }: HttpResponse,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * The size of a file; undefined where there is none.
 *
 * @throws MM_IO, also for a folder
 */
export async function fileSize(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) return stats.size;
    const position = { source: path };
    throw new MementoMapError("MM_IO", "is a directory; name a file", { position });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw ioError(error, path);
  }
}

function badStatus({ status, url, headers }: HttpResponse): Failure {
  const askedMs = retryAfterMs(headers.get("retry-after"), Date.now());
  const retryAfter = askedMs === undefined ? "" : ` (Retry-After: ${askedMs / 1000} s)`;
  const error = httpFailure(url, `the server answered with status ${status}${retryAfter}`);
  return { error, askedMs, mayPass: isTemporary(status) };
}

function tooLarge(url: string, most: number): MementoMapError {
  return httpRefusal(url, `it is larger than ${most} bytes; allow more with --max-size`);
}
