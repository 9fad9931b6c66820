import { standsAt } from "../bytes/bytes.ts";

const encoder = new TextEncoder();

/**
 * Schemes of records that crawlers keep beside pages; no lookup ever asks for them. Browsertrix keeps
 * a `urn:pageinfo:`, and maybe a `urn:view:` and `urn:text:`, for each page.
 */
const NON_WEB_SCHEMES = ["dns:", "warcinfo:", "filedesc:", "metadata:", "whois:", "urn:"].map(
  (scheme) => encoder.encode(scheme),
);

/** Nearly every key is told by its first byte. */
const FIRST_BYTES = new Uint8Array(256);
for (const [first] of NON_WEB_SCHEMES) FIRST_BYTES[first] = 1;

/** Whether a SURT or URI names a record of something that is no web page. */
export function isNonWeb(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end || FIRST_BYTES[bytes[start]] === 0) return false;
  return NON_WEB_SCHEMES.some((scheme) => standsAt(bytes, start, end, scheme));
}
