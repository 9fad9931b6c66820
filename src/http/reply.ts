import type { IncomingHttpHeaders } from "node:http";
import { type ByteSource, sourceChunks } from "../bytes/byte-source.ts";

/** A request, independent of the kind of server. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent; in absolute form if a proxy sent it. */
  readonly target: string;
  /** With lower-case names. */
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
  readonly protocol: "http" | "https";
  /** The peer address of the connection; empty if unknown. */
  readonly remoteAddress: string;
  /** Whether the client disconnected before the whole request was received. */
  readonly isAborted: boolean;
  /** Reads the body. Call it once. */
  body(): AsyncIterable<Uint8Array>;
}

/** The reply to a request, for `node:http` or as a `Response`. */
export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** A chunk may be overwritten when the next one is read. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Called once when the body has been sent or abandoned. */
  readonly release?: (() => Promise<void>) | undefined;
  /** Whether the connection cannot be reused, because the request was not fully read. */
  readonly closesConnection?: boolean | undefined;
}

/** Whether a body is in memory as a whole, not streamed. */
export function isWhole(body: Reply["body"]): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** Thrown by a body that fails because of the client's input; not a server error. */
export class ClientFault extends Error {}

export type ReplyHeaders = Readonly<Record<string, string>>;

/** A 200 reply with a text. */
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

/** Small enough for a thousand slow readers, large enough to be fast. */
const CHUNK_BYTES = 65_536;

/**
 * The reply to a GET or HEAD of a representation: complete, partial (206), or without it (304, 412, 416).
 *
 * The body is read one chunk at a time.
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
  const outcome = evaluateConditions(headers, found);
  if (outcome === "precondition-failed") {
    const detail = "the map has changed; fetch it again";
    return problemReply({ status: 412, title: "Precondition failed", detail });
  }
  if (outcome === "not-modified") return { status: 304, headers: about };
  const range = method === "HEAD" ? "whole" : evaluateRange(headers, found);
  const { size } = found.body;
  if (range === "unsatisfiable") {
    return problemReply({
      status: 416,
      title: "Range not satisfiable",
      detail: `the content has ${size} bytes`,
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

/** A problem document (RFC 9457). Never contains the message of an exception. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  /** How to fix the request. */
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
    detail: `this resource allows ${allow}`,
    headers: { Allow: allow },
  };
}

export const INTERNAL_ERROR: Problem = {
  status: 500,
  title: "Internal error",
  detail: "the request failed; the server log has details",
};

/** The content codings of maps, besides `identity`. */
export type Encoding = "gzip" | "zstd";

/** A representation of a resource, to be sent complete or in part. */
export interface Representation {
  readonly body: ByteSource;
  /** With quotes. Strong: two representations with the same tag have the same bytes. */
  readonly etag: string;
  readonly lastModified: Date;
  readonly contentType: string;
  readonly encoding: Encoding | undefined;
}

/** A map is text: every client can display it, and every proxy can compress it. */
export const MAP_CONTENT_TYPE = "text/plain; charset=utf-8";

/** A packed map. */
export const PACKED_CONTENT_TYPE = "application/vnd.mementomap.packed";

/**
 * Whether a client prefers a packed map over text, by `Accept` (RFC 9110, section 12.5.1). The type must be named
 * explicitly: clients that send wildcards do not know packed maps.
 */
export function prefersPacked(accept: string | undefined): boolean {
  const weights = weightsOf(accept);
  const packed = weights.get(PACKED_CONTENT_TYPE) ?? 0;
  return packed > 0 && packed >= (weights.get("text/plain") ?? weights.get("text/*") ?? 0);
}

/** The entity tag of a resource in a coding: `"4f2a…-gzip"`. */
export function etagOf(version: string, encoding?: Encoding): string {
  return encoding === undefined ? `"${version}"` : `"${version}-${encoding}"`;
}

/** The tag without the coding, to compare representations of one version. */
function versionOf(etag: string): string {
  return etag.replace(/^W\//, "").replace(/^"(.*?)(?:-(?:gzip|zstd))?"$/, "$1");
}

/** The outcome of a conditional request. */
export type Outcome = "send" | "not-modified" | "precondition-failed";

/** The requested range `[start, end)`, the whole, or a range beyond the content. */
type RangeOutcome = { readonly start: number; readonly end: number } | "whole" | "unsatisfiable";

/**
 * Evaluates the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2.
 *
 * `If-None-Match` also matches a tag of another coding of the same version: the client's copy is current in any
 * coding.
 */
export function evaluateConditions(
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

/** Matches the header without blanks. */
const SINGLE_RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15})),?$/i;
const MAX_RANGE_CHARACTERS = 100;

/**
 * Evaluates `Range`, if `If-Range` matches.
 *
 * Several ranges, other units and malformed headers get the whole content, as RFC 9110, section 14.2 allows: no
 * client
 * of maps needs them, and many small ranges are expensive.
 */
export function evaluateRange(headers: IncomingHttpHeaders, found: Representation): RangeOutcome {
  const { range } = headers;
  const ifRange = headers["if-range"]?.toString();
  if (range === undefined || (ifRange !== undefined && !matchesIfRange(found, ifRange)))
    return "whole";
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

function matchesIfRange(found: Representation, ifRange: string): boolean {
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

/** In whole seconds, like HTTP dates. */
function modifiedAt({ lastModified }: Pick<Representation, "lastModified">): number {
  return Math.floor(lastModified.getTime() / 1000) * 1000;
}

function httpTime(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** The weights of an `Accept` header, from 0 to 1; invalid weights count as 0. */
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
 * The available coding to send, by `Accept-Encoding` (RFC 9110, section 12.5.3); undefined for none.
 *
 * Among codings of equal weight the first of `available` wins. Without the header the content is sent
 * uncompressed: the
 * client may be a script that stores the bytes as received.
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
