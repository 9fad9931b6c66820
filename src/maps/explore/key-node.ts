import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";

/*
 * The tree of a map: top-level domains, domains, hosts, paths. A node is named by the prefix of its
 * keys:
 *
 *   ""                   all keys
 *   com,example,         a domain: its own host and all hosts below it
 *   com,example)/        one host
 *   com,example)/a/      the page /a, its queries, and all that is below it
 *
 * Keys of one node need not be adjacent: the byte order is `/a`, `/a-b`, `/a/b`, `/a0`, `/a?x`.
 */

/** The kind of a node or row of the tree. */
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
 * The name of a node, with its final separator added if missing.
 *
 * @throws MM_USAGE for a text that no key begins with.
 */
export function nodeName(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (text.length > MAX_PREFIX_LENGTH || /[\u0000-\u0020*?\u007f]/.test(text.replace(",*)", ")"))) {
    throw new MementoMapError(
      "MM_USAGE",
      `${quote(text.slice(0, 100))} is not a key prefix; use a SURT such as com,example, or com,example)/a/`,
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

/** The ranges of keys of a node, in key order. */
export function nodeRanges(name: string): KeyRange[] {
  if (name === "") return [{ from: new Uint8Array(0), to: undefined }];
  const text = name.slice(0, -1);
  if (!isPathNode(name)) return [startingWith(`${text})`), startingWith(name)];
  if (kindOf(name) === "host") return [startingWith(text)];
  return [exactly(text), startingWith(name), startingWith(`${text}?`)];
}

function startingWith(prefix: string): KeyRange {
  const from = encoder.encode(prefix);
  return { from, to: behindAll(from) };
}

/** The range of a row that is a child itself. */
export function exactly(key: string): KeyRange {
  const from = encoder.encode(key);
  return { from, to: Uint8Array.of(...from, 1) };
}

/** The first key after all that begin with `prefix`. */
export function behindAll(prefix: Uint8Array): Uint8Array {
  // Not by `slice`: that of a `Buffer` is a view of the map.
  const next = Uint8Array.from(prefix);
  next[next.length - 1]++;
  return next;
}

/** A part of a map: a node, or a row that is a child itself. */
export interface Part {
  /** The name of the node, or the key of the row. */
  readonly name: string;
  readonly isRow: boolean;
}

/** The part of a key. */
interface KeyPart extends Part {
  /** Keys with this prefix belong to the same part; undefined if only the key itself does. */
  readonly run: Uint8Array | undefined;
}

/**
 * The topmost part of a key `bytes[start, end)` whose name includes the first `length` bytes of the key: it
 * ends there or at the next separator.
 */
export function partOf(bytes: Uint8Array, start: number, end: number, length: number): KeyPart {
  const row = (): KeyPart => ({ name: textOf(bytes, start, end), isRow: true, run: undefined });
  const node = (nameEnd: number, ending: string, runEnd: number): KeyPart => ({
    name: textOf(bytes, start, nameEnd) + ending,
    isRow: false,
    run: runEnd > end ? undefined : bytes.subarray(start, runEnd),
  });
  let host = start;
  while (host < end && bytes[host] !== CLOSE_PAREN) host++;
  let at = start + length - 1;
  if (host === end) {
    const isWildcard = bytes[end - 1] === STAR && bytes[end - 2] === COMMA;
    if (!isWildcard || at >= end - 1) return row();
    host = end - 2;
  }
  if (at < host || (at === host && bytes[at] === COMMA)) {
    while (at < host && bytes[at] !== COMMA) at++;
    // `uk,gov,*)/a`: one path on all hosts below.
    return bytes[at - 1] === STAR ? node(at, ")/", at + 1) : node(at, ",", at + 1);
  }
  if (at <= host + 1) return node(host + 1, "/", host + 1);
  for (let query = host + 2; query <= at; query++) {
    if (query >= end || bytes[query] === QUESTION) return row();
  }
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION) at++;
  const isWildcard = at === end && bytes[at - 1] === STAR && bytes[at - 2] === SLASH;
  return isWildcard ? row() : node(at, "/", at + 1);
}

/** The kind of a node or row. */
export function partKind({ name, isRow }: Part): NodeKind {
  if (!isRow) return kindOf(name);
  if (name.endsWith(",*") || name.endsWith("/*")) return "wildcard";
  const host = name.indexOf(")");
  return host === -1 ? "other" : name.includes("?", host) ? "query" : "page";
}

export function partRanges({ name, isRow }: Part): KeyRange[] {
  return isRow ? [exactly(name)] : nodeRanges(name);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, end));
}

/** The kind of a node. */
export function kindOf(name: string): NodeKind {
  if (name === "") return "root";
  // Paths may end in a parenthesis, too.
  if (isPathNode(name)) return name.indexOf(")/") === name.length - 2 ? "host" : "path";
  return name.indexOf(",") === name.length - 1 ? "tld" : "domain";
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

/** The wildcards above a node that may include its captures: `com,*` and `com,example)/*`. */
export function wildcardsAbove(name: string): string[] {
  return namesAbove(name)
    .filter((above) => above !== "")
    .map((above) => `${above}*`);
}

/** A name or a key in readable form: `*.example.com`, `http://example.com/a`. */
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
