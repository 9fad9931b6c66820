import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";

/*
 * The tree that people explore: top-level domains, domains, hosts, paths. A node is named by what its keys
 * begin with:
 *
 *   ""                   all keys
 *   com,example,         a domain: its own host and all hosts below it
 *   com,example)/        one host
 *   com,example)/a/      the page /a, its queries, and all that is below it
 *
 * Keys of one node need not stand together: `/a`, `/a-b`, `/a/b`, `/a0`, `/a?x` is the order of bytes.
 */

/** What a node or a row of the tree is. */
export type NodeKind =
  | "root"
  | "tld"
  | "domain"
  | "host"
  | "path"
  | "page"
  | "query"
  | "wildcard"
  | "other";

/** Keys from `from` to before `to`. */
export interface KeyRange {
  readonly from: Uint8Array;
  /** Undefined for the end of the map. */
  readonly to: Uint8Array | undefined;
}

const MAX_PREFIX_LENGTH = 8192;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The name of a node as the tree has it; what lacks its last separator gets it.
 *
 * @throws MM_USAGE for what no key begins with.
 */
export function nodeName(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (text.length > MAX_PREFIX_LENGTH || /[\u0000-\u0020*?\u007f]/.test(text.replace(",*)", ")"))) {
    throw new MementoMapError(
      "MM_USAGE",
      `${quote(text.slice(0, 100))} is not the beginning of keys; give a SURT such as com,example, or com,example)/a/`,
    );
  }
  if (text === "") return "";
  const host = text.indexOf(")");
  if (host === -1) return text.endsWith(",") ? text : `${text},`;
  if (host === text.length - 1) return `${text}/`;
  return text.endsWith("/") ? text : `${text}/`;
}

/** Whether a name is that of a host or of a path. */
function isPathNode(name: string): boolean {
  return name.includes(")");
}

/** The ranges of keys that a node has, in the order of keys. */
export function nodeRanges(name: string): KeyRange[] {
  if (name === "") return [{ from: new Uint8Array(0), to: undefined }];
  const text = name.slice(0, -1);
  if (!isPathNode(name)) return [startingWith(`${text})`), startingWith(name)];
  if (text.endsWith(")")) return [startingWith(text)];
  return [exactly(text), startingWith(name), startingWith(`${text}?`)];
}

function startingWith(prefix: string): KeyRange {
  const from = encoder.encode(prefix);
  return { from, to: behindAll(from) };
}

/** The ranges of a row that is a child by itself. */
export function exactly(key: string): KeyRange {
  const from = encoder.encode(key);
  return { from, to: Uint8Array.of(...from, 1) };
}

/** The first key that does not begin with `prefix` and comes behind those that do. */
export function behindAll(prefix: Uint8Array): Uint8Array {
  // Not by `slice`: that of a `Buffer` is a view of the map itself.
  const next = Uint8Array.from(prefix);
  next[next.length - 1]++;
  return next;
}

/** Which child of a node a key belongs to. */
export class ChildPlace {
  /** The child is `key[0, textEnd)` and `ending`. */
  textEnd = 0;
  ending: "" | "," | "/" | ")/" = "";
  /** Keys that begin with `key[0, runEnd)` are of the same child; -1 if only the key itself is. */
  runEnd = 0;
  kind: NodeKind = "other";
  /** Whether the key is the page of a path, and nothing below it. */
  isPage = false;

  /** The name of the child of a key. */
  name(key: Uint8Array, start: number): string {
    return decoder.decode(key.subarray(start, start + this.textEnd)) + this.ending;
  }
}

/** Finds the children of one node, key by key. */
export class ChildFinder {
  readonly #length: number;
  readonly #isPath: boolean;
  /** Labels above the children of a domain. */
  readonly #labels: number;
  readonly #isRoot: boolean;

  constructor(name: string) {
    this.#length = encoder.encode(name).length;
    this.#isPath = isPathNode(name);
    this.#isRoot = name === "";
    this.#labels = name.split(",").length - 1;
  }

  /** Writes into `place` which child the key `bytes[start, end)` of the node belongs to. */
  find(bytes: Uint8Array, start: number, end: number, place: ChildPlace): void {
    place.isPage = false;
    if (this.#isPath) this.#findPath(bytes, start, end, place);
    else this.#findHost(bytes, start, end, place);
  }

  #findHost(bytes: Uint8Array, start: number, end: number, place: ChildPlace): void {
    const last = start + this.#length - 1;
    if (!this.#isRoot && bytes[last] === CLOSE_PAREN) {
      setNode(place, last - start, ")/", "host");
      place.runEnd = last + 1 - start;
      return;
    }
    const from = last + 1;
    let at = from;
    while (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSE_PAREN) at++;
    if (at >= end) {
      setRow(place, end - start, bytes[end - 1] === STAR ? "wildcard" : "other");
      return;
    }
    // `uk,gov,*)/a`: one path on all hosts below.
    const isSpread = bytes[at] === CLOSE_PAREN && at === from + 1 && bytes[from] === STAR;
    if (isSpread) setNode(place, at - start, ")/", "host");
    else setNode(place, at - start, ",", this.#labels === 0 ? "tld" : "domain");
    place.runEnd = at + 1 - start;
  }

  #findPath(bytes: Uint8Array, start: number, end: number, place: ChildPlace): void {
    const from = start + this.#length;
    if (from - 1 >= end || from >= end || bytes[from - 1] !== SLASH) {
      const isQuery = from - 1 < end && bytes[from - 1] === QUESTION;
      setRow(place, end - start, isQuery ? "query" : "page");
      return;
    }
    let at = from;
    while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION) at++;
    if (at === end) {
      if (end - from === 1 && bytes[from] === STAR) {
        setRow(place, end - start, "wildcard");
        return;
      }
      setNode(place, end - start, "/", "path");
      place.runEnd = -1;
      place.isPage = true;
      return;
    }
    if (at === from && bytes[at] === QUESTION) {
      setRow(place, end - start, "query");
      return;
    }
    setNode(place, at - start, "/", "path");
    place.runEnd = at + 1 - start;
  }
}

function setNode(
  place: ChildPlace,
  textEnd: number,
  ending: ChildPlace["ending"],
  kind: NodeKind,
): void {
  place.textEnd = textEnd;
  place.ending = ending;
  place.kind = kind;
}

function setRow(place: ChildPlace, textEnd: number, kind: NodeKind): void {
  setNode(place, textEnd, "", kind);
  place.runEnd = -1;
}

/** What kind of node a name is of. */
export function kindOf(name: string): NodeKind {
  if (name === "") return "root";
  if (isPathNode(name)) return name.endsWith(")/") ? "host" : "path";
  return name.indexOf(",") === name.length - 1 ? "tld" : "domain";
}

/** What kind of row a key is of. */
export function rowKind(key: string): NodeKind {
  if (key.endsWith(",*") || key.endsWith("/*")) return "wildcard";
  const host = key.indexOf(")");
  return host === -1 ? "other" : key.includes("?", host) ? "query" : "page";
}

/** The nodes above a node, from the root down. */
export function namesAbove(name: string): string[] {
  if (name === "") return [];
  const names = [""];
  const host = name.indexOf(")");
  const labels = host === -1 ? name : `${name.slice(0, host)},`;
  for (let at = labels.indexOf(","); at !== -1; at = labels.indexOf(",", at + 1)) {
    names.push(labels.slice(0, at + 1));
  }
  if (host !== -1) {
    for (let at = name.indexOf("/", host); at !== -1; at = name.indexOf("/", at + 1)) {
      names.push(name.slice(0, at + 1));
    }
  }
  return names.slice(0, -1).filter((above) => !above.endsWith("*,"));
}

/** The rows above a node whose captures may be of its keys, too: `com,*` and `com,example)/*`. */
export function wildcardsAbove(name: string): string[] {
  return namesAbove(name)
    .filter((above) => above !== "")
    .map((above) => `${above}*`);
}

/** A name or a key as people write it: `*.example.com`, `http://example.com/a`. */
export function readableName(name: string): string {
  if (name === "") return "*";
  const host = name.indexOf(")");
  if (host === -1) {
    if (!name.includes(",")) return name;
    return `*.${hostOf(name.replace(/,\*?$/, ""))}`;
  }
  const labels = name.slice(0, host);
  const readable = labels.endsWith(",*") ? `*.${hostOf(labels.slice(0, -2))}` : hostOf(labels);
  return `http://${readable}${name.slice(host + 1) || "/"}`;
}

function hostOf(labels: string): string {
  const [, bare = "", port = ""] = /^(.*?)(:\d+)?$/.exec(labels) ?? [];
  return bare.split(",").toReversed().join(".") + port;
}
