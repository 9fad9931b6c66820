import { quote } from "../errors.ts";
import { ANY_QUERY, hasQuery, hostEnd, isSpreadKey, type KeyOptions } from "../surt/key.ts";
import { ownSpelling } from "../surt/spelling.ts";
import type { Count } from "../ukvs/frequency.ts";

/**
 * What can be wrong with a map. Stable, like the codes of errors: scripts may filter by them.
 *
 * Errors break a rule of the format, so that a reader refuses the map, or looks in vain for what it
 * holds. Warnings are about what a reader understands, but a writer hardly meant.
 */
export const FAULT_SEVERITIES = {
  "bad-columns": "error",
  "bad-datetime": "error",
  "bad-frequency": "error",
  "bad-header": "error",
  "bad-key": "error",
  "blank-line": "warning",
  "byte-order-mark": "warning",
  crlf: "warning",
  cut: "error",
  damaged: "error",
  "duplicate-key": "error",
  "home-without-slash": "warning",
  "idle-exclusion": "warning",
  "late-header": "error",
  "line-too-long": "error",
  "missing-fields": "warning",
  "no-final-newline": "warning",
  "no-records": "warning",
  "not-a-map": "error",
  "not-sorted": "error",
  "not-text": "error",
  "query-in-key": "warning",
  "star-in-key": "warning",
  "total-too-small": "warning",
  "wildcard-too-small": "warning",
} as const satisfies Record<string, "error" | "warning">;

export type FaultCode = keyof typeof FAULT_SEVERITIES;

/** One thing that is wrong with a map. */
export interface Fault {
  /** Counted from 1. */
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly code: FaultCode;
  readonly message: string;
}

/** A fault with the severity that its code has. */
export function fault(line: number, code: FaultCode, message: string): Fault {
  return { line, severity: FAULT_SEVERITIES[code], code, message };
}

/** What is wrong with the form of a key. */
export interface KeyFault {
  readonly code: FaultCode;
  readonly message: string;
}

/** A URI without a host, such as `dns:example.com`. */
const OPAQUE = /^[^/]*:/;

/**
 * Checks the form of a key: whether some lookup may ask for it.
 *
 * At most one fault: what follows the first one is often a consequence of it.
 */
export function keyFault(key: string, options: KeyOptions = {}): KeyFault | undefined {
  if (options.queries === true && hasQuery(key)) return queryFault(key);
  if (key.endsWith(ANY_QUERY)) {
    return bad(key, 'stands for any query, in a map without "queries": true in its "!fields"');
  }
  if (key === "*") return undefined;
  const paren = hostEnd(key);
  if (paren < 0) return key.endsWith(",*") ? hostFault(key, key.slice(0, -2)) : pathlessFault(key);
  const isSpread = key.slice(0, paren).endsWith(",*");
  const host = key.slice(0, isSpread ? paren - 2 : paren);
  return hostFault(key, host) ?? pathFault(key, key.slice(paren + 1), isSpread);
}

/** What is wrong with a key that has a query, in a map with queries. */
function queryFault(key: string): KeyFault | undefined {
  if (hasRawStar(key, { queries: true })) return rawStar(key);
  const mark = key.indexOf("?", Math.max(0, hostEnd(key)));
  if (key.endsWith("?") && mark === key.length - 1) {
    return bad(key, 'has nothing behind its "?"; a page without a query has none');
  }
  const query = key.slice(mark);
  if (query !== ANY_QUERY && query.includes("*")) {
    return bad(key, 'has a "*" within its query, where it is written "%2a"');
  }
  const page = keyFault(key.slice(0, mark));
  if (page === undefined && /[,/]\*$/.test(key.slice(0, mark))) {
    return bad(key, "has a query behind a wildcard");
  }
  return page?.code === "bad-key" ? { ...page, message: `${page.message}: ${quote(key)}` } : page;
}

function hasRawStar(key: string, options: KeyOptions = {}): boolean {
  return key.includes("*") && ownSpelling(key, options) !== key;
}

function rawStar(key: string): KeyFault {
  return {
    code: "star-in-key",
    message: `key ${quote(key)} has a "*" that is not a wildcard, which is written "%2a"; merge rewrites it`,
  };
}

function pathlessFault(key: string): KeyFault | undefined {
  if (OPAQUE.test(key)) return undefined;
  if (key.includes(")")) return bad(key, 'has no "/" behind its ")"');
  return key.includes("/")
    ? bad(key, 'has no ")" between host and path')
    : bad(key, 'has neither a path nor a wildcard; a home page ends in ")/"');
}

function hostFault(key: string, host: string): KeyFault | undefined {
  // `http://a..com/` has an empty label within, and a lookup asks for it.
  const labels = host.split(",");
  if (labels[0] === "" || labels.at(-1) === "") return bad(key, "has an empty host label");
  if (labels.includes("*"))
    return bad(key, "has a wildcard in the middle; it may only be the last label");
  if (host.includes(")")) return bad(key, 'has a ")" in its host; it is written "%29"');
  if (/[A-Z]/.test(host)) return bad(key, "has upper-case letters in its host; SURTs have none");
  return host.includes("/") ? bad(key, 'has a path before its ")"') : undefined;
}

function pathFault(key: string, path: string, isSpread: boolean): KeyFault | undefined {
  if (path === "") {
    return isSpread
      ? bad(key, 'needs a path behind ",*)"')
      : {
          code: "home-without-slash",
          message: `key ${quote(key)} is a home page, which is written with a slash: ${quote(`${key}/`)}`,
        };
  }
  if (!path.startsWith("/")) return bad(key, 'has no "/" behind its ")"');
  const query = path.indexOf("?");
  if (query >= 0) {
    return {
      code: "query-in-key",
      message: `key ${quote(key)} has a query; a map usually has one row for all queries of a page`,
    };
  }
  if (path.length > 1 && path.endsWith("/")) {
    return bad(key, "ends in a slash; only the root does, and no lookup asks for it");
  }
  if (hasRawStar(key)) return rawStar(key);
  const segments = path.slice(1).split("/");
  const star = segments.indexOf("*");
  if (star < 0) return undefined;
  if (isSpread) return bad(key, "has a wildcard in its path as well as in its host");
  return star < segments.length - 1
    ? bad(key, 'has a wildcard in the middle; a "*" that belongs to a path is written "%2a"')
    : undefined;
}

function bad(key: string, what: string): KeyFault {
  return { code: "bad-key", message: `key ${quote(key)} ${what}` };
}

/** Exclusions remembered until it is known whether they exclude anything. */
const MAX_PENDING = 10_000;

interface Exclusion {
  readonly line: number;
  readonly key: string;
}

/** A host or path of the map, with what is known about everything below it. */
interface Node {
  /** What all keys below begin with; empty for the whole archive. */
  readonly text: string;
  readonly parent: Node | undefined;
  readonly isHost: boolean;
  /** The least number of mementos that the rows below state, the wildcard's own left out. */
  included: number;
  /** Of those, the mementos of the page itself, without a query. */
  bare: number;
  wildcard: { readonly line: number; readonly count: Count | undefined } | undefined;
  /** Whether a wildcard here says present. */
  isPresent: boolean;
  /** Exclusions with nothing present above them, so far. */
  readonly pending: Exclusion[];
}

/**
 * Checks what rows say about each other: wildcards include what is below them, and exclusions need
 * something to be excluded from.
 *
 * Takes the rows of a sorted map one by one. Holds one node per level of the current key, as the
 * compaction does: a node is open as long as keys begin with its text, because the rows below a
 * path do not all stand together (`/a`, `/a-b`, `/a/b`).
 */
export class InclusionCheck {
  readonly #open: Node[] = [newNode("", undefined, true)];
  readonly #faults: Fault[] = [];
  #pendingCount = 0;
  #uncheckedCount = 0;
  readonly #hasQueries: boolean;
  readonly #isSample: boolean;

  /** @param isSample a void of a map made of samples needs nothing above it: all else is not known. */
  constructor({ queries = false }: KeyOptions, isSample = false) {
    this.#hasQueries = queries;
    this.#isSample = isSample;
  }

  /** Takes a row with its memento count; undefined when that is unknown. */
  add(line: number, key: string, count: Count | undefined): void {
    this.#closeUnless(key);
    const isZero = count?.value === 0;
    if (key === "*") {
      this.#open[0].wildcard = { line, count };
    } else if (isSpreadKey(key)) {
      // It covers one path on many hosts: part of many sums, and the whole of none.
      if (!isZero) this.#node(key.slice(0, key.indexOf(",*)"))).isPresent = true;
    } else if (key.endsWith(",*") || key.endsWith("/*")) {
      const node = this.#node(key.slice(0, -2));
      node.wildcard = { line, count };
      if (isZero) this.#exclude(node.parent, { line, key });
      else node.isPresent = true;
    } else if (this.#hasQueries && hasQuery(key)) {
      this.#addQuery(line, key, count);
    } else {
      const node = this.#node(pageText(key));
      if (isZero) {
        this.#exclude(node, { line, key });
      } else if (!key.includes("?")) {
        node.included += atLeast(count);
        node.bare += atLeast(count);
      }
    }
  }

  /** The queries of a page are in a node of their own, `com,a)/p?`, whose wildcard has the page too. */
  #addQuery(line: number, key: string, count: Count | undefined): void {
    const page = key.slice(0, key.indexOf("?", Math.max(0, hostEnd(key))));
    const node = this.#node(`${page}?`);
    const isZero = count?.value === 0;
    if (!key.endsWith(ANY_QUERY)) {
      if (isZero) this.#exclude(node, { line, key });
      else node.included += atLeast(count);
      return;
    }
    node.wildcard = { line, count };
    const { parent } = node;
    if (isZero || parent === undefined) {
      this.#exclude(parent, { line, key });
      return;
    }
    node.isPresent = true;
    const ofPage = parent.pending.findIndex((exclusion) => exclusion.key === page);
    if (ofPage >= 0) this.#pendingCount -= parent.pending.splice(ofPage, 1).length;
  }

  /** The faults that became certain since the last call. */
  take(): Fault[] {
    return this.#faults.splice(0);
  }

  /** The faults that become certain at the end of the map. */
  finish(lastLine: number): Fault[] {
    while (this.#open.length > 0) this.#close();
    if (this.#uncheckedCount > 0) {
      this.#faults.push(
        fault(
          lastLine,
          "idle-exclusion",
          `${this.#uncheckedCount} more exclusions may exclude nothing; they were too many to check`,
        ),
      );
    }
    return this.take();
  }

  #exclude(from: Node | undefined, exclusion: Exclusion): void {
    if (this.#isSample || from === undefined || isPresentAbove(from)) return;
    if (this.#pendingCount >= MAX_PENDING) {
      this.#uncheckedCount++;
      return;
    }
    from.pending.push(exclusion);
    this.#pendingCount++;
  }

  /** The open node of a text, opened with all above it if need be. */
  #node(text: string): Node {
    const open = this.#open.findLast(
      (node) => node.text.length <= text.length && node.text === text,
    );
    if (open !== undefined) return open;
    const parent = this.#node(textAbove(text));
    const node = newNode(text, parent, !text.includes(")"));
    this.#open.push(node);
    return node;
  }

  #closeUnless(key: string): void {
    for (;;) {
      const last = this.#open.at(-1);
      if (last === undefined || key.startsWith(last.text)) return;
      this.#close();
    }
  }

  #close(): void {
    const node = this.#open.pop();
    if (node === undefined) return;
    this.#checkCount(node);
    if (node.parent !== undefined) node.parent.included += contribution(node);
    this.#settle(node);
  }

  #checkCount(node: Node): void {
    const { text, wildcard } = node;
    const count = wildcard?.count;
    if (wildcard === undefined || count === undefined || count.value === 0) return;
    const included = node.included + bareAbove(node);
    if (count.bound === "atLeast" || count.bound === "about" || count.value >= included) return;
    const [code, key] =
      text === ""
        ? (["total-too-small", "*"] as const)
        : (["wildcard-too-small", wildcardOf(text)] as const);
    this.#faults.push(
      fault(
        wildcard.line,
        code,
        `key ${quote(key)} states ${count.value} mementos, but the keys it includes state ${included}`,
      ),
    );
  }

  /** Decides about the exclusions of a node that closes, or leaves them to the node above. */
  #settle(node: Node): void {
    if (node.pending.length === 0) return;
    const { parent } = node;
    if (node.isPresent || (parent !== undefined && isPresentAbove(parent))) {
      this.#pendingCount -= node.pending.length;
      return;
    }
    // `X,*` comes before what is below X but after the paths of X, and after labels that begin
    // with one of the few characters below `*`.
    if (parent !== undefined && (!node.isHost || isBeforeStar(node, parent))) {
      parent.pending.push(...node.pending);
      return;
    }
    for (const { line, key } of node.pending) {
      this.#faults.push(
        fault(
          line,
          "idle-exclusion",
          `key ${quote(key)} excludes nothing: no broader key is present`,
        ),
      );
    }
    this.#pendingCount -= node.pending.length;
  }
}

function wildcardOf(text: string): string {
  if (isOfQueries(text)) return `${text}*`;
  return text.includes(")") ? `${text}/*` : `${text},*`;
}

/** What the wildcard of a node of queries includes that is counted above it: the page itself. */
function bareAbove({ text, parent }: Node): number {
  return isOfQueries(text) ? (parent?.bare ?? 0) : 0;
}

/** Whether a node is that of the queries of a page. */
function isOfQueries(text: string): boolean {
  return text.endsWith("?") && text.includes(")");
}

function newNode(text: string, parent: Node | undefined, isHost: boolean): Node {
  return {
    text,
    parent,
    isHost,
    included: 0,
    bare: 0,
    wildcard: undefined,
    isPresent: false,
    pending: [],
  };
}

function isPresentAbove(from: Node): boolean {
  for (let node: Node | undefined = from; node !== undefined; node = node.parent) {
    if (node.isPresent) return true;
  }
  return false;
}

function isBeforeStar(node: Node, parent: Node): boolean {
  const label = parent.text === "" ? node.text : node.text.slice(parent.text.length + 1);
  return parent.text !== "" && label < "*";
}

/** What a closed node adds to the one above: its wildcard speaks for all below. */
function contribution(node: Node): number {
  const { wildcard, included } = node;
  const count = wildcard?.count;
  if (count === undefined || count.value === 0) return included;
  const stated = atLeast(count) - bareAbove(node);
  return count.bound === "exact" ? stated : Math.max(included, stated);
}

function atLeast(count: Count | undefined): number {
  return count !== undefined && (count.bound === "exact" || count.bound === "atLeast")
    ? count.value
    : 0;
}

/** The text of the node of a page: without its query, and of a home page its whole host. */
function pageText(key: string): string {
  const query = key.indexOf("?");
  const page = query < 0 ? key : key.slice(0, query);
  return page.endsWith(")/") && page.indexOf(")") === page.length - 2 ? page.slice(0, -1) : page;
}

/** `com,a)/b/c?`, `com,a)/b/c`, `com,a)/b`, `com,a)`, `com,a`, `com`, nothing. */
function textAbove(text: string): string {
  if (isOfQueries(text)) return pageText(text);
  const paren = text.indexOf(")");
  if (paren < 0) return text.slice(0, Math.max(0, text.lastIndexOf(",")));
  const slash = text.lastIndexOf("/");
  return slash > paren ? text.slice(0, slash) : text.slice(0, paren);
}
