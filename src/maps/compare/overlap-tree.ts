import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { CurrentKey } from "../../ukvs/key-tree.ts";
import { RowSums } from "../explore/row-sums.ts";
import type { KeyGroups } from "./key-groups.ts";
import { codeOf, OverlapTable } from "./overlap.ts";
import type { SuffixLabels } from "./suffix-labels.ts";

/**
 * What is below a top-level domain, a registered domain, a host, or a page; open while keys begin with
 * its text.
 */
export class OverlapNode {
  textEnd = 0;
  parent: OverlapNode | undefined;
  kind: "other" | "tld" | "domain" = "other";
  /** Whether it is a host and those below it, not a path. */
  isHost = false;
  /** Keys of pages at and below the node. */
  readonly keys: OverlapTable;
  /** Keys of the page's queries, until it is known what the maps say about the page. */
  readonly queries: OverlapTable;
  /** Registered domains below the node. */
  readonly domains: OverlapTable;
  /** Sums of each map; of top-level and registered domains only. */
  readonly sums: readonly RowSums[];
  /** Maps with a row that covers all below, and those where it is a void. */
  present = 0;
  absent = 0;
  /** The same for rows that cover the page with any query. */
  queryPresent = 0;
  queryAbsent = 0;

  constructor(maps: number) {
    this.keys = new OverlapTable(maps);
    this.queries = new OverlapTable(maps);
    this.domains = new OverlapTable(maps);
    this.sums = Array.from({ length: maps }, () => new RowSums());
  }
}

interface TreeVisitor {
  /** A node that keys do not begin with any more; `text` is as keys have it. */
  closeDomain(node: OverlapNode, text: string): void;
  closeTld(node: OverlapNode, text: string): void;
  /** A wildcard above registered domains, such as `com,*`, that the maps `present` have. */
  wildcard(text: string, present: number): void;
}

/**
 * Takes the keys of all maps in order, and finds out what each map says about each of them: a row of its
 * own, or the next wildcard above. Wildcards may come behind what they cover (`com,a)/` before `com,a,*`),
 * so that keys are counted by what is known of them, and wildcards decide when their node is closed.
 *
 * Holds the nodes that the current key begins with.
 */
export class OverlapTree {
  /** Keys that no node has: those without a host. */
  readonly root: OverlapNode;
  readonly #maps: number;
  /** Maps whose rows for a page speak for all its queries. */
  readonly #withoutQueries: number;
  readonly #suffixLabels: SuffixLabels;
  readonly #visitor: TreeVisitor;
  readonly #key = new CurrentKey();
  readonly #open: OverlapNode[] = [];
  readonly #pool: OverlapNode[] = [];

  constructor(
    maps: number,
    options: {
      readonly withoutQueries: number;
      readonly suffixLabels: SuffixLabels;
      readonly visitor: TreeVisitor;
    },
  ) {
    this.#maps = maps;
    this.root = new OverlapNode(maps);
    this.#withoutQueries = options.withoutQueries;
    this.#suffixLabels = options.suffixLabels;
    this.#visitor = options.visitor;
  }

  /** Takes the next key, and the maps that have it. */
  add(groups: readonly KeyGroups[], having: number): void {
    const first = groups[31 - Math.clz32(having)];
    this.#key.compare(first.bytes, first.start, first.end);
    this.#closeTo(this.#key.shared);
    this.#key.set(first.bytes, first.start, first.end);
    this.#take(groups, having);
  }

  end(): void {
    this.#closeTo(-1);
  }

  #take(groups: readonly KeyGroups[], having: number): void {
    const { bytes: key, length } = this.#key;
    let hostEnd = 0;
    while (hostEnd < length && key[hostEnd] !== CLOSE_PAREN) hostEnd++;
    const isWildcard = length > 1 && key[length - 1] === STAR;
    const isHostWildcard = hostEnd === length && isWildcard && key[length - 2] === COMMA;
    if (hostEnd === length && !isHostWildcard) {
      // `*` states the totals once more.
      if (length > 1 || key[0] !== STAR) this.#count(this.root, groups, having);
      return;
    }
    const labelsEnd = isHostWildcard ? length - 2 : hostEnd;
    const isSpread = key[labelsEnd - 1] === STAR && key[labelsEnd - 2] === COMMA;
    const host = this.#hosts(isSpread ? labelsEnd - 2 : labelsEnd);
    sumUp(host, groups, having);
    if (isHostWildcard) {
      decide(host, groups, having);
      return;
    }
    if (isSpread) return;
    this.#path(host, hostEnd, groups, having);
  }

  /** Opens the nodes of the host of the key; returns the last. */
  #hosts(end: number): OverlapNode {
    const { bytes: key } = this.#key;
    let parent = this.root;
    let at = 0;
    let suffix = -1;
    for (let labels = 1; at <= end; labels++) {
      while (at < end && key[at] !== COMMA) at++;
      const known = this.#find(at);
      const node = known ?? this.#push(at, parent);
      if (known === undefined) {
        node.isHost = true;
        if (labels === 1) node.kind = "tld";
        else if (parent.kind !== "domain" && !isBelowDomain(parent)) {
          if (suffix === -1) suffix = this.#suffixLabels(this.#key.text(end));
          if (labels === suffix + 1) node.kind = "domain";
        }
      }
      parent = node;
      at++;
    }
    return parent;
  }

  /** Counts a key with a path at its page, whose node and those above it are opened. */
  #path(host: OverlapNode, hostEnd: number, groups: readonly KeyGroups[], having: number): void {
    const { bytes: key, length } = this.#key;
    let node = this.#find(hostEnd + 1) ?? this.#push(hostEnd + 1, host);
    let query = hostEnd + 1;
    while (query < length && key[query] !== QUESTION) query++;
    const isPathWildcard =
      query === length && key[length - 1] === STAR && key[length - 2] === SLASH;
    const pathEnd = isPathWildcard ? length - 2 : query;
    for (let at = hostEnd + 2; at <= pathEnd && pathEnd > hostEnd + 2; at++) {
      if (at < pathEnd && key[at] !== SLASH) continue;
      node = this.#find(at) ?? this.#push(at, node);
    }
    if (isPathWildcard) decide(node, groups, having);
    else if (query === length) this.#countPage(node, groups, having);
    else if (query === length - 2 && key[length - 1] === STAR) this.#anyQuery(node, groups, having);
    else count(node.queries, groups, having);
  }

  #countPage(node: OverlapNode, groups: readonly KeyGroups[], having: number): void {
    count(node.keys, groups, having);
    for (let i = 0; i < groups.length; i++) {
      if ((having & this.#withoutQueries & (1 << i)) === 0) continue;
      if (groups[i].isVoid) node.queryAbsent |= 1 << i;
      else node.queryPresent |= 1 << i;
    }
  }

  #anyQuery(node: OverlapNode, groups: readonly KeyGroups[], having: number): void {
    // Where maps are without queries, this is a key as any other.
    count(node.queries, groups, having & this.#withoutQueries);
    for (let i = 0; i < groups.length; i++) {
      if ((having & ~this.#withoutQueries & (1 << i)) === 0) continue;
      if (groups[i].isVoid) node.queryAbsent |= 1 << i;
      else node.queryPresent |= 1 << i;
    }
  }

  #count(node: OverlapNode, groups: readonly KeyGroups[], having: number): void {
    count(node.keys, groups, having);
    for (let i = 0; i < groups.length; i++) {
      if ((having & (1 << i)) !== 0) node.sums[i].add(groups[i].sums);
    }
  }

  /** The open node whose text is the first `end` bytes of the key. */
  #find(end: number): OverlapNode | undefined {
    for (let i = this.#open.length - 1; i >= 0; i--) {
      const node = this.#open[i];
      if (node.textEnd === end) return node;
      if (node.textEnd < end) return undefined;
    }
    return undefined;
  }

  #push(textEnd: number, parent: OverlapNode): OverlapNode {
    const node = this.#pool.pop() ?? new OverlapNode(this.#maps);
    node.textEnd = textEnd;
    node.parent = parent;
    this.#open.push(node);
    return node;
  }

  /** Closes nodes that the next key, which has `shared` bytes in common with the last, is not of. */
  #closeTo(shared: number): void {
    for (;;) {
      const node = this.#open.at(-1);
      if (node === undefined || node.textEnd <= shared) return;
      this.#open.pop();
      this.#close(node);
    }
  }

  #close(node: OverlapNode): void {
    const { parent = this.root, present, absent } = node;
    node.queries.addTo(node.keys, node.queryPresent, node.queryAbsent);
    if (node.kind === "domain") this.#closeDomain(node, parent);
    else if (present !== 0 && node.isHost && !isBelowDomain(node)) {
      this.#visitor.wildcard(this.#key.text(node.textEnd), present);
    }
    if (node.kind === "tld") {
      node.keys.decide(present, absent);
      node.domains.decide(present, absent);
      this.#visitor.closeTld(node, this.#key.text(node.textEnd));
      node.keys.addTo(parent.keys, 0, 0);
      node.domains.addTo(parent.domains, 0, 0);
    } else {
      node.keys.addTo(parent.keys, present, absent);
      node.domains.addTo(parent.domains, present, absent);
    }
    this.#release(node);
  }

  #closeDomain(node: OverlapNode, parent: OverlapNode): void {
    let held = 0;
    const { sums, present, absent } = node;
    for (let i = 0; i < this.#maps; i++) {
      if (sums[i].rows > sums[i].voids) held |= 1 << i;
    }
    const numbers = node.domains.of(codeOf(held, 0));
    numbers[0] += 1;
    for (let i = 0; i < this.#maps; i++) numbers[i + 2] += sums[i].captures;
    node.keys.decide(present, absent);
    this.#visitor.closeDomain(node, this.#key.text(node.textEnd));
    for (let above: OverlapNode | undefined = parent; above !== undefined; above = above.parent) {
      if (above.kind !== "tld") continue;
      for (let i = 0; i < this.#maps; i++) above.sums[i].add(sums[i]);
      return;
    }
  }

  #release(node: OverlapNode): void {
    node.keys.clear();
    node.queries.clear();
    node.domains.clear();
    if (node.kind !== "other") for (const sums of node.sums) sums.clear();
    node.kind = "other";
    node.isHost = false;
    node.parent = undefined;
    node.present = 0;
    node.absent = 0;
    node.queryPresent = 0;
    node.queryAbsent = 0;
    if (this.#pool.length < 256) this.#pool.push(node);
  }
}

function isBelowDomain(node: OverlapNode): boolean {
  for (let above: OverlapNode | undefined = node; above !== undefined; above = above.parent) {
    if (above.kind === "domain") return true;
  }
  return false;
}

/** Adds rows to the sums of the registered domain of a host, or of its top-level domain. */
function sumUp(host: OverlapNode, groups: readonly KeyGroups[], having: number): void {
  let node: OverlapNode = host;
  while (node.kind === "other" && node.parent !== undefined) node = node.parent;
  for (let i = 0; i < groups.length; i++) {
    if ((having & (1 << i)) !== 0) node.sums[i].add(groups[i].sums);
  }
}

/** Notes which maps have a wildcard at a node. */
function decide(node: OverlapNode, groups: readonly KeyGroups[], having: number): void {
  for (let i = 0; i < groups.length; i++) {
    if ((having & (1 << i)) === 0) continue;
    if (groups[i].isVoid) node.absent |= 1 << i;
    else node.present |= 1 << i;
  }
}

function count(table: OverlapTable, groups: readonly KeyGroups[], having: number): void {
  if (having === 0) return;
  let [held, no] = [0, 0];
  let captures = -1;
  let differs = 0;
  for (let i = 0; i < groups.length; i++) {
    if ((having & (1 << i)) === 0) continue;
    if (groups[i].isVoid) {
      no |= 1 << i;
      continue;
    }
    held |= 1 << i;
    const { captures: own } = groups[i].sums;
    if (captures !== -1 && own !== captures) differs = 1;
    captures = own;
  }
  if (held === 0) return;
  const numbers = table.of(codeOf(held, no));
  numbers[0] += 1;
  numbers[1] += differs;
  for (let i = 0; i < groups.length; i++) {
    if ((held & (1 << i)) !== 0) numbers[i + 2] += groups[i].sums.captures;
  }
}
