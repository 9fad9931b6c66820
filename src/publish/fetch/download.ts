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

/** One resource of a fetched map: the whole map, or a page. */
interface FetchedPart {
  readonly url: string;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** Facts about a fetched map; stored in a small file beside it. */
export interface FetchState {
  /** The requested address. */
  readonly address: string;
  readonly archive: string;
  readonly method: DiscoveryMethod | "direct";
  readonly parts: readonly FetchedPart[];
  /** The freshness of the first part, by RFC 9111. */
  readonly policy: CachePolicyObject;
  /** The size of the map's file, to detect changes made by others. */
  readonly bytes: number;
}

/** A hidden file beside the map: `.map.ukvs.fetch.json`. */
export function statePath(target: string): string {
  return join(dirname(target), `.${basename(target)}.fetch.json`);
}

/** The files of an incomplete download. */
interface PartPaths {
  readonly part: string;
  /** Describes the download. */
  readonly about: string;
}

export function partPaths(target: string): PartPaths {
  const part = join(dirname(target), `.${basename(target)}.part`);
  return { part, about: `${part}.json` };
}

export interface DownloadOptions {
  readonly client: HttpClient;
  readonly maxBytes: number;
  /** Whether to request the packed form of a map; default false. */
  readonly packed?: boolean | undefined;
  /** Number of retries after a broken connection or a busy server. */
  readonly retries: number;
  /** The first pause before a retry; it doubles each time. `Retry-After` can make it longer. */
  readonly retryDelayMs: number;
  /** Called when the server requests a longer pause than the maximum. */
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
/** The maximum pause; if a server requests a longer one, the download fails. */
const MAX_PAUSE_MS = 120_000;
const ACCEPTED_CODINGS: ReadonlySet<string> = new Set(["", "identity", "gzip", "x-gzip", "zstd"]);

/**
 * Downloads into a file, as sent: compressed if the server compresses.
 *
 * An interrupted download resumes where it stopped, now or at the next call, if the server sent a
 * strong tag: `If-Range` ensures that both halves are of one version. `Retry-After` is honoured up to
 * two minutes. Holds one chunk.
 *
 * @throws MM_HTTP when it could not be completed; MM_REFUSED when it is too large, or in an
 *   unrequested coding; MM_IO.
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
      return { error, retryable: error.code === "MM_HTTP" && isPassingFault(error) };
    });
    if ("part" in outcome) return outcome;
    const { error, serverDelayMs, retryable } = outcome;
    if (!retryable) throw error;
    const backOff = { firstMs: options.retryDelayMs, longestMs: MAX_PAUSE_MS };
    const waitMs = waitBefore(attempt, backOff, serverDelayMs);
    if (waitMs > MAX_PAUSE_MS) options.onToldToWait?.(waitMs);
    if (waitMs > MAX_PAUSE_MS || attempt > options.retries) throw error;
    await sleep(waitMs, undefined, { signal: options.signal });
  }
}

interface Failure {
  readonly error: MementoMapError;
  readonly serverDelayMs?: number | undefined;
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
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
  // The stored bytes are not the beginning of the current version.
  await forget(paths);
  return downloadOnce(url, paths, options);
}

/** The facts about a response to remember. */
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

/** Whether a 206 response continues the stored bytes. */
function continues(response: HttpResponse, note: PartNote, stored: number): boolean {
  const range = response.headers.get("content-range") ?? "";
  const isSameVersion = (response.headers.get("etag") ?? note.etag) === note.etag;
  return response.status === 206 && isSameVersion && range.startsWith(`bytes ${stored}-`);
}

/** zstd only if Node decodes it natively, which also bounds its memory. */
function acceptEncoding(): string {
  return "zstd" in process.versions ? "zstd, gzip" : "gzip";
}

/** Picks headers of a response by name. */
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
 * The size of a file; undefined if there is none.
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
  const serverDelayMs = retryAfterMs(headers.get("retry-after"), Date.now());
  const retryAfter = serverDelayMs === undefined ? "" : ` (Retry-After: ${serverDelayMs / 1000} s)`;
  const error = httpFailure(url, `the server answered with status ${status}${retryAfter}`);
  return { error, serverDelayMs, retryable: isTemporary(status) };
}

function tooLarge(url: string, maxBytes: number): MementoMapError {
  return httpRefusal(url, `it is larger than ${maxBytes} bytes; allow more with --max-size`);
}
