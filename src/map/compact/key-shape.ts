import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";

/** What kind of key a row has. */
export const KEY_KIND = {
  /** `com,cnn)/a`: one page. */
  page: 0,
  /** `com,cnn)/a?x=1`: one page with a query. */
  query: 1,
  /** `com,cnn)/a/*`: a page and what is below it. */
  pathWildcard: 2,
  /** `com,cnn,*`: a host, its pages and its sub-domains. */
  hostWildcard: 3,
  /** `uk,gov,*)/a`: one path on a host and its sub-domains. */
  spread: 4,
  /** `*`, and keys that are no SURT of a host, such as `dns:example.com`. */
  opaque: 5,
} as const;

export type KeyKind = (typeof KEY_KIND)[keyof typeof KEY_KIND];

/** Takes a key apart, as far as the tree of keys needs it. One object is reused for all keys. */
export class KeyShape {
  kind: KeyKind = KEY_KIND.opaque;
  /** Where the `)` is; the end of the labels for a host wildcard; -1 for opaque keys. */
  hostEnd = -1;
  /** Nodes of the tree end at or before here: it leaves out queries and wildcards. */
  nodesEnd = 0;
  /** Whether the last key was a page: what another shares with it has no query and no wildcard. */
  #isPage = false;

  /** @param shared how many bytes the key is known to have in common with the last one. */
  set(key: Uint8Array, length: number, shared: number = 0): void {
    const isSameHost = this.#isPage && shared > this.hostEnd + 1;
    const hostEnd = isSameHost ? this.hostEnd : findHostEnd(key, 0, length);
    this.#isPage = false;
    if (hostEnd === length) {
      const isWildcard = length > 2 && key[length - 1] === STAR && key[length - 2] === COMMA;
      this.kind = isWildcard ? KEY_KIND.hostWildcard : KEY_KIND.opaque;
      this.hostEnd = this.nodesEnd = isWildcard ? length - 2 : -1;
      return;
    }
    this.hostEnd = hostEnd;
    if (hostEnd >= 2 && key[hostEnd - 1] === STAR && key[hostEnd - 2] === COMMA) {
      this.kind = KEY_KIND.spread;
      this.nodesEnd = hostEnd;
      return;
    }
    if (key[length - 1] === STAR && key[length - 2] === SLASH) {
      this.kind = KEY_KIND.pathWildcard;
      this.nodesEnd = length - 2;
      return;
    }
    let query = isSameHost ? shared : hostEnd + 1;
    while (query < length && key[query] !== QUESTION) query++;
    if (query === length) {
      this.kind = KEY_KIND.page;
      this.nodesEnd = length;
      this.#isPage = true;
      return;
    }
    this.kind = KEY_KIND.query;
    // The page itself stays out: its own row and sub-tree are passed already.
    let last = query - 1;
    while (key[last] !== SLASH && last > hostEnd + 1) last--;
    this.nodesEnd = last;
  }
}

/** The offset of the `)` that ends the host, or `end`. */
export function findHostEnd(key: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && !(key[at] === CLOSE_PAREN && (at + 1 === end || key[at + 1] === SLASH))) at++;
  return at;
}
