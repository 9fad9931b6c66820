import type { UpstreamRequest } from "../upstream.ts";
import { textHash } from "./text-hash.ts";

/** Something that is found by the request it answers, as long as it is under way. */
export interface UnderWayEntry {
  readonly request: UpstreamRequest;
  readonly hash: number;
  /** The next of the same bucket. Only for the table. */
  next: UnderWayEntry | undefined;
}

const FIRST_BUCKETS = 1024;

/**
 * Finds what is under way by its request.
 *
 * Not a `Map`: tables that a `Map` has outgrown point to their successors, so that with entries
 * that come and go thousands of times a second the dead ones survive until the next large garbage
 * collection, and half of the time goes there. Here what is taken out points to nothing.
 */
export class UnderWay<Entry extends UnderWayEntry> {
  /** So that nobody can make up addresses that fall into one bucket. */
  readonly #seed = Math.trunc(Math.random() * 0x7fff_ffff);
  #buckets: (Entry | undefined)[] = emptyBuckets(FIRST_BUCKETS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  hashOf({ url }: UpstreamRequest): number {
    return textHash(url, this.#seed);
  }

  find(request: UpstreamRequest, hash: number): Entry | undefined {
    let entry = this.#buckets[hash & (this.#buckets.length - 1)];
    while (entry !== undefined) {
      if (entry.hash === hash && isSame(entry.request, request)) return entry;
      entry = entry.next as Entry | undefined; // only entries of this table are linked
    }
    return undefined;
  }

  add(entry: Entry): void {
    if (this.#size >= this.#buckets.length) this.#grow();
    const at = entry.hash & (this.#buckets.length - 1);
    entry.next = this.#buckets[at];
    this.#buckets[at] = entry;
    this.#size += 1;
  }

  /** Takes an entry out, if it is there. */
  delete(entry: Entry): void {
    const at = entry.hash & (this.#buckets.length - 1);
    let before: UnderWayEntry | undefined;
    let current: UnderWayEntry | undefined = this.#buckets[at];
    while (current !== undefined && current !== entry) {
      before = current;
      current = current.next;
    }
    if (current === undefined) return;
    if (before === undefined) this.#buckets[at] = entry.next as Entry | undefined; // as in find
    else before.next = entry.next;
    entry.next = undefined;
    this.#size -= 1;
  }

  #grow(): void {
    const old = this.#buckets;
    this.#buckets = emptyBuckets(old.length * 2);
    for (const bucket of old) {
      let entry: Entry | undefined = bucket;
      while (entry !== undefined) {
        const next = entry.next as Entry | undefined; // as in find
        const at = entry.hash & (this.#buckets.length - 1);
        entry.next = this.#buckets[at];
        this.#buckets[at] = entry;
        entry = next;
      }
    }
  }
}

function emptyBuckets<Entry>(count: number): (Entry | undefined)[] {
  return Array.from<Entry | undefined>({ length: count }).fill(undefined);
}

/** Whether one answer is right for both. */
function isSame(a: UpstreamRequest, b: UpstreamRequest): boolean {
  return (
    a.url === b.url &&
    a.archive.id === b.archive.id &&
    (a.method ?? "GET") === (b.method ?? "GET") &&
    a.followsRedirects === b.followsRedirects &&
    a.isCacheable === b.isCacheable &&
    a.maxBytes === b.maxBytes &&
    haveSameHeaders(a.headers, b.headers)
  );
}

function haveSameHeaders(a: UpstreamRequest["headers"], b: UpstreamRequest["headers"]): boolean {
  if (a === b) return true;
  const names = Object.keys(a ?? {});
  return (
    names.length === Object.keys(b ?? {}).length &&
    names.every((name) => b !== undefined && a?.[name] === b[name])
  );
}
