import type { ByteSource } from "../bytes/byte-source.ts";

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

/** The tag of a resource in a coding: `"4f2a…-gzip"`. */
export function etagOf(version: string, encoding?: Encoding): string {
  return encoding === undefined ? `"${version}"` : `"${version}-${encoding}"`;
}

/** The tag without the coding, so that forms of one version can be known for such. */
export function versionOf(etag: string): string {
  return etag.replace(/^W\//, "").replace(/^"(.*?)(?:-(?:gzip|zstd))?"$/, "$1");
}
