import type { IncomingHttpHeaders } from "node:http";
import { type ByteSource, sourceChunks } from "../bytes/byte-source.ts";

/** A request as handlers see it, whichever kind of server it came through. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent; in the absolute form if a proxy sent it. */
  readonly target: string;
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
  readonly protocol: "http" | "https";
  /** The address at the other end of the connection; empty where the server does not tell. */
  readonly remoteAddress: string;
  /** Whether the client went away before it had sent the whole request. */
  readonly isAborted: boolean;
  /** Reads the body. Call it once. */
  body(): AsyncIterable<Uint8Array>;
}

/** What a request is answered with, ready for `node:http` or as a `Response`. */
export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** A chunk may be written over when the next is asked for. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Called once when the body was sent, or will not be read on. */
  readonly release?: (() => Promise<void>) | undefined;
  /** Whether the connection cannot be used again, because the request was not read to its end. */
  readonly closesConnection?: boolean | undefined;
}

/** Whether a body is there as a whole, not in chunks. */
export function isWhole(body: Reply["body"]): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** What a body fails with that ends because of what the client sent: it is not an error of ours. */
export class ClientFault extends Error {}

export type ReplyHeaders = Readonly<Record<string, string>>;

/** A reply with a text of known length. */
export function textReply(contentType: string, text: string, headers: ReplyHeaders = {}): Reply {
  return {
    status: 200,
    headers: {
      "Content-Type": contentType,
      "Content-Length": String(Buffer.byteLength(text)),
      ...headers,
    },
    body: text,
  };
}

/** A reply with a problem document. */
export function problemReply(problem: Problem): Reply & { readonly body: string } {
  const { status, title, detail, headers, members } = problem;
  const body = `${JSON.stringify({ type: "about:blank", title, status, detail, ...members })}\n`;
  return {
    status,
    headers: {
      ...headers,
      "Content-Type": "application/problem+json",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
    },
    body,
  };
}

/** Small enough that a thousand slow readers hold little, large enough to be quick. */
const CHUNK_BYTES = 65_536;

/**
 * A reply to GET or HEAD with a representation: whole, in part (206), or not at all (304, 412, 416).
 *
 * Its body is read a chunk at a time.
 */
export function representationReply(
  { method, headers }: HttpRequest,
  found: Representation,
  more: ReplyHeaders = {},
): Reply {
  const about = {
    ETag: found.etag,
    "Last-Modified": found.lastModified.toUTCString(),
    "Accept-Ranges": "bytes",
    Vary: "Accept-Encoding",
    ...more,
  };
  const outcome = judgeConditions(headers, found);
  if (outcome === "precondition-failed") {
    const detail = "the map has changed; fetch it again";
    return problemReply({ status: 412, title: "Precondition failed", detail });
  }
  if (outcome === "not-modified") return { status: 304, headers: about };
  const range = method === "HEAD" ? "whole" : judgeRange(headers, found);
  const { size } = found.body;
  if (range === "unsatisfiable") {
    return problemReply({
      status: 416,
      title: "Range not satisfiable",
      detail: `there are ${size} bytes`,
      headers: { "Content-Range": `bytes */${size}` },
    });
  }
  const { start, end } = range === "whole" ? { start: 0, end: size } : range;
  return {
    status: range === "whole" ? 200 : 206,
    headers: {
      ...about,
      "Content-Type": found.contentType,
      "Content-Length": String(end - start),
      ...(found.encoding === undefined ? {} : { "Content-Encoding": found.encoding }),
      ...(range === "whole" ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${size}` }),
    },
    body:
      method === "HEAD"
        ? undefined
        : sourceChunks(found.body, { start, end, chunkBytes: CHUNK_BYTES }),
  };
}

/** What went wrong with a request, as RFC 9457 has it. Never holds the text of an exception. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  /** What to do about it. */
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the document. */
  readonly members?: Readonly<Record<string, unknown>>;
}

export function notFound(detail: string): Problem {
  return { status: 404, title: "Not found", detail };
}

export function badRequest(detail: string): Problem {
  return { status: 400, title: "Bad request", detail };
}

export function methodNotAllowed(allow: string): Problem {
  return {
    status: 405,
    title: "Method not allowed",
    detail: `this resource answers to ${allow}`,
    headers: { Allow: allow },
  };
}

export const INTERNAL_ERROR: Problem = {
  status: 500,
  title: "Internal error",
  detail: "the server failed to answer; its log says why",
};

/** The content codings a map is offered in, besides as it is. */
export type Encoding = "gzip" | "zstd";

/** One form of a resource, ready to be sent whole or in part. */
export interface Representation {
  readonly body: ByteSource;
  /** With its quotes. Strong: two representations with the same tag have the same bytes. */
  readonly etag: string;
  readonly lastModified: Date;
  readonly contentType: string;
  readonly encoding: Encoding | undefined;
}

/** A map is text: every client can show it, and every proxy knows to compress it. */
export const MAP_CONTENT_TYPE = "text/plain; charset=utf-8";

/** A packed map. */
export const PACKED_CONTENT_TYPE = "application/vnd.mementomap.packed";

/**
 * Whether a client wants a packed map rather than text, by `Accept` (RFC 9110, section 12.5.1). It has
 * to name the type: wildcards come from programs that know nothing of packed maps.
 */
export function prefersPacked(accept: string | undefined): boolean {
  const weights = weightsOf(accept);
  const packed = weights.get(PACKED_CONTENT_TYPE) ?? 0;
  return packed > 0 && packed >= (weights.get("text/plain") ?? weights.get("text/*") ?? 0);
}

/** The tag of a resource in a coding: `"4f2a…-gzip"`. */
export function etagOf(version: string, encoding?: Encoding): string {
  return encoding === undefined ? `"${version}"` : `"${version}-${encoding}"`;
}

/** The tag without the coding, so that forms of one version can be known for such. */
function versionOf(etag: string): string {
  return etag.replace(/^W\//, "").replace(/^"(.*?)(?:-(?:gzip|zstd))?"$/, "$1");
}

/** What a conditional request gets: the content, or only the news that nothing changed. */
export type Outcome = "send" | "not-modified" | "precondition-failed";

/** The part asked for: `[start, end)`; the whole; or none that exists. */
type RangeOutcome = { readonly start: number; readonly end: number } | "whole" | "unsatisfiable";

/**
 * Judges the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2.
 *
 * `If-None-Match` counts a tag of another coding of the same version as a match: what that client
 * holds is current, whichever coding would be chosen now.
 */
export function judgeConditions(
  headers: IncomingHttpHeaders,
  found: Pick<Representation, "etag" | "lastModified">,
): Outcome {
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, found.etag)) return "precondition-failed";
  } else {
    const unmodifiedSince = httpTime(headers["if-unmodified-since"]);
    if (unmodifiedSince !== undefined && modifiedAt(found) > unmodifiedSince) {
      return "precondition-failed";
    }
  }
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    return matchesVersion(ifNoneMatch, found.etag) ? "not-modified" : "send";
  }
  const modifiedSince = httpTime(headers["if-modified-since"]);
  return modifiedSince !== undefined && modifiedAt(found) <= modifiedSince
    ? "not-modified"
    : "send";
}

/** Of a header without blanks. */
const SINGLE_RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15})),?$/i;
const MAX_RANGE_CHARACTERS = 100;

/**
 * Reads `Range`, if `If-Range` still holds.
 *
 * Several ranges, other units and anything malformed are answered with the whole, as RFC 9110,
 * section 14.2 allows: no client of maps needs them, and many small ranges cost a server much.
 */
export function judgeRange(headers: IncomingHttpHeaders, found: Representation): RangeOutcome {
  const { range } = headers;
  const ifRange = headers["if-range"]?.toString();
  if (range === undefined || (ifRange !== undefined && !isStillThe(found, ifRange))) return "whole";
  if (range.length > MAX_RANGE_CHARACTERS) return "whole";
  const [all, from, to, last] = SINGLE_RANGE.exec(range.replaceAll(/[ \t]/g, "")) ?? [];
  if (all === undefined) return "whole";
  const { size } = found.body;
  if (from === undefined) {
    const length = Number(last);
    if (length === 0 || size === 0) return "unsatisfiable";
    return { start: Math.max(0, size - length), end: size };
  }
  const start = Number(from);
  if (to !== undefined && Number(to) < start) return "whole";
  if (start >= size) return "unsatisfiable";
  return { start, end: to === undefined ? size : Math.min(Number(to) + 1, size) };
}

function isStillThe(found: Representation, ifRange: string): boolean {
  const text = ifRange.trim();
  if (text.startsWith('"')) return text === found.etag;
  const time = httpTime(text);
  return time !== undefined && time === modifiedAt(found);
}

function matchesStrongly(header: string, etag: string): boolean {
  return header.trim() === "*" || tagsOf(header).includes(etag);
}

function matchesVersion(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  const version = versionOf(etag);
  return tagsOf(header).some((tag) => versionOf(tag) === version);
}

function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/** Whole seconds, as HTTP has them. */
function modifiedAt({ lastModified }: Pick<Representation, "lastModified">): number {
  return Math.floor(lastModified.getTime() / 1000) * 1000;
}

function httpTime(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** What an `Accept` header likes, and how much, from 0 to 1; what has no such weight is not liked. */
function weightsOf(header: string = ""): Map<string, number> {
  return new Map(
    header.split(",").map((item) => {
      const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
      const value = Number(weight?.replace(/^q\s*=/, "") ?? 1);
      return [name, value >= 0 && value <= 1 ? value : 0];
    }),
  );
}

/**
 * Which of the codings at hand to send, by `Accept-Encoding` (RFC 9110, section 12.5.3); undefined
 * for none.
 *
 * Of codings liked equally the first of `available` is taken. A client that says nothing gets the
 * plain bytes: it may be a script that would store whatever comes.
 */
export function chooseEncoding(
  header: string | undefined,
  available: readonly Encoding[],
): Encoding | undefined {
  if (header === undefined || available.length === 0) return undefined;
  const weights = weightsOf(header);
  const other = weights.get("*");
  const weightOf = (coding: string): number =>
    weights.get(coding) ?? (coding === "gzip" ? weights.get("x-gzip") : undefined) ?? other ?? 0;
  const best = available.reduce((a, b) => (weightOf(b) > weightOf(a) ? b : a));
  const bestWeight = weightOf(best);
  const plain = weights.get("identity");
  return bestWeight === 0 || (plain !== undefined && plain > bestWeight) ? undefined : best;
}
