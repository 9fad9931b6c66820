import type { NodeKind } from "../../src/maps/explore/key-node.ts";
import type { PartSums } from "../../src/maps/explore/map-slice.ts";
import { pieces, readableUri } from "../parts/uri-text.ts";

/** The name of a part among its siblings: `com`, `example.com`, `news/`, `?page=2`. */
export function partLabel(part: {
  readonly prefix: string;
  readonly url: string;
  readonly kind: NodeKind;
}): string {
  const { kind, prefix, url } = part;
  if (kind === "root") return "*";
  if (kind === "tld" || kind === "domain") return readable(url.replace(/^\*\./, ""));
  if (kind === "wildcard")
    return prefix.includes(")") ? `${lastSegment(prefix, 2)}*` : readable(url);
  if (kind === "host") return `${readable(url.replace(/^https?:\/\//, "").replace(/\/$/, ""))}/`;
  if (kind === "other") return visible(prefix);
  if (kind === "query") return visible(decode(prefix.slice(prefix.indexOf("?"))));
  const segment = lastSegment(prefix, 1);
  if (kind === "page") return segment.replace(/\/$/, "") || "/";
  return segment;
}

function lastSegment(prefix: string, from: number): string {
  const end = prefix.endsWith("*") ? prefix.length - 1 : prefix.length;
  const start = prefix.lastIndexOf("/", end - from - (prefix.endsWith("*") ? 0 : 1));
  return visible(decode(prefix.slice(start + 1, end)));
}

/** A name with Punycode and percent-encoding decoded, and invisible characters made visible. */
export function readable(text: string): string {
  return visible(readableUri(text));
}

function decode(text: string): string {
  return readableUri(`/${text}`).slice(1);
}

/** Escapes invisible characters and bidirectional marks. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => (piece.isMark ? `⟨${piece.text}⟩` : piece.text))
    .join("");
}

export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** The degree to which a part is rolled up. */
export function rolledShare(part: PartSums): number {
  if (part.captures > 0) return part.wildcardCaptures / part.captures;
  return part.rows === 0 ? 0 : part.wildcards / part.rows;
}
