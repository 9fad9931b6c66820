import { QUESTION, STAR } from "../../bytes/bytes.ts";
import { type CurrentKey, KEY_KIND, LAYER, TreeNode, TreeWalk } from "../../ukvs/key-tree.ts";
import { RowSums } from "../explore/row-sums.ts";
import type { RowCursor } from "../row-cursor.ts";
import type { KeyRows } from "./key-rows.ts";
import { codeOf, OverlapTable } from "./overlap.ts";
import type { SuffixLabels } from "./suffix-labels.ts";

/** Maps, as bits, that have a row which covers something, and those where that row is a void. */
class Coverage {
  present = 0;
  absent = 0;

  add(maps: readonly KeyRows[], having: number): void {
    for (const [i, map] of maps.entries()) {
      if ((having & (1 << i)) === 0) continue;
      if (map.isVoid) this.absent |= 1 << i;
      else this.present |= 1 << i;
    }
  }

  clear(): void {
    this.present = 0;
    this.absent = 0;
  }
}

/**
 * What is below a top-level domain, a registered domain, a host, or a page; open while keys begin with
 * its text.
 */
class OverlapNode extends TreeNode<OverlapNode> {
  kind: "other" | "tld" | "domain" = "other";
  /** Keys of pages at and below the node. */
  readonly keys: OverlapTable;
  /** Keys of the page's queries, until the rows of the page are known. */
  readonly queries: OverlapTable;
  /** Registered domains below the node. */
  readonly domains: OverlapTable;
  /** Sums of each map; of top-level and registered domains only. */
  readonly sums: readonly RowSums[];
  /** From rows that cover everything below the node. */
  readonly below = new Coverage();
  /** From rows that cover the page with any query. */
  readonly anyQuery = new Coverage();

  constructor(maps: number) {
    super();
    this.keys = new OverlapTable(maps);
    this.queries = new OverlapTable(maps);
    this.domains = new OverlapTable(maps);
    this.sums = Array.from({ length: maps }, () => new RowSums());
  }

  clear(): void {
    this.keys.clear();
    this.queries.clear();
    this.domains.clear();
    if (this.kind !== "other") for (const sums of this.sums) sums.clear();
    this.kind = "other";
    this.below.clear();
    this.anyQuery.clear();
  }

  /** The registered domain that a host is in, or its top-level domain. */
  get domain(): OverlapNode {
    return this.kind === "other" && this.parent !== undefined ? this.parent.domain : this;
  }
}

/**
 * Receives the keys of all maps in order, and determines the row of each map that decides: its own, or the
 * next wildcard above. Wildcards may sort after the keys they cover (`com,a)/` before `com,a,*`), so keys
 * are counted by the rows seen so far, and wildcards decide when their node closes.
 *
 * Holds the nodes that the current key begins with: the queries of a page follow everything below it.
 */
export class OverlapTree {
  /** The root, which also counts keys without a host. */
  readonly root: OverlapNode;
  /** Number of top-level and registered domains in which each map holds something. */
  readonly tlds: number[];
  readonly domains: number[];
  readonly #maps: readonly KeyRows[];
  readonly #walk: TreeWalk<OverlapNode>;
  /** Maps whose rows for a page include all its queries. */
  readonly #withoutQueries: number;
  readonly #suffixLabels: SuffixLabels;
  /** Number of labels in the registered domain of the current host; 0: not looked up yet. */
  #domainLabels = 0;
  /** End of the labels of the current key. */
  #labelsEnd = 0;

  constructor(maps: readonly KeyRows[], suffixLabels: SuffixLabels) {
    this.root = new OverlapNode(maps.length);
    this.tlds = maps.map(() => 0);
    this.domains = maps.map(() => 0);
    this.#maps = maps;
    this.#walk = new TreeWalk(
      () => new OverlapNode(maps.length),
      this,
      () => 0xff,
    );
    this.#withoutQueries = maps.reduce(
      (bits, { headers }, i) => (headers.fields.queries === true ? bits : bits | (1 << i)),
      0,
    );
    this.#suffixLabels = suffixLabels;
  }

  /** Moves to the key of a row; keys must come in order. */
  goTo({ bytes, start, keyEnd }: RowCursor): CurrentKey {
    this.#walk.goTo(bytes, start, keyEnd);
    return this.#walk.key;
  }

  /** Counts the current key for the maps that have it. */
  add(having: number): void {
    const { bytes, length, shape } = this.#walk.key;
    const { kind, hostEnd } = shape;
    if (kind === KEY_KIND.opaque) {
      // `*` repeats the totals.
      if (length === 1 && bytes[0] === STAR) return;
      this.#count(this.root.keys, having);
      this.#addSums(this.root, having);
      return;
    }
    this.#labelsEnd = kind === KEY_KIND.spread ? hostEnd - 2 : hostEnd;
    this.#domainLabels = 0;
    const host = this.#walk.enter({ hostEnd: this.#labelsEnd, nodesEnd: this.#labelsEnd });
    this.#addSums(host.domain, having);
    if (kind === KEY_KIND.hostWildcard) host.below.add(this.#maps, having);
    else if (kind === KEY_KIND.pathWildcard) this.#walk.enter(shape).below.add(this.#maps, having);
    else if (kind === KEY_KIND.page) {
      const page = this.#walk.enter(shape);
      this.#count(page.keys, having);
      page.anyQuery.add(this.#maps, having & this.#withoutQueries);
    } else if (kind === KEY_KIND.query) this.#addQuery(having);
  }

  #addQuery(having: number): void {
    const { bytes, length, hostEnd, queriedEnd } = this.#walk.key;
    const page = this.#walk.enter({ hostEnd, nodesEnd: queriedEnd });
    const isAny = bytes.indexOf(QUESTION, hostEnd) === length - 2 && bytes[length - 1] === STAR;
    // In maps without queries, `?*` is an ordinary query.
    this.#count(page.queries, isAny ? having & this.#withoutQueries : having);
    if (isAny) page.anyQuery.add(this.#maps, having & ~this.#withoutQueries);
  }

  #addSums(node: OverlapNode, having: number): void {
    for (const [i, { sums }] of this.#maps.entries()) {
      if ((having & (1 << i)) !== 0) node.sums[i].add(sums);
    }
  }

  #count(table: OverlapTable, having: number): void {
    let [held, no, differs] = [0, 0, 0];
    let captures = -1;
    for (const [i, map] of this.#maps.entries()) {
      if ((having & (1 << i)) === 0) continue;
      if (map.isVoid) {
        no |= 1 << i;
        continue;
      }
      held |= 1 << i;
      if (captures !== -1 && map.sums.captures !== captures) differs = 1;
      captures = map.sums.captures;
    }
    if (held === 0) return;
    const numbers = table.of(codeOf(held, no));
    numbers[0] += 1;
    numbers[1] += differs;
    for (const [i, { sums }] of this.#maps.entries()) {
      if ((held & (1 << i)) !== 0) numbers[i + 2] += sums.captures;
    }
  }

  end(): void {
    this.#walk.end();
  }

  /** Called by the walk. */
  open(node: OverlapNode): void {
    const { layer, depth, parent } = node;
    if (layer !== LAYER.host) return;
    if (depth === 1) node.kind = "tld";
    else if (parent?.domain.kind !== "domain") {
      if (this.#domainLabels === 0) {
        this.#domainLabels = this.#suffixLabels(this.#walk.key.text(this.#labelsEnd)) + 1;
      }
      if (depth === this.#domainLabels) node.kind = "domain";
    }
  }

  /** Called by the walk. */
  close(node: OverlapNode): void {
    const { parent = this.root, kind, keys, queries, domains, sums } = node;
    const { present, absent } = node.below;
    queries.addTo(keys, node.anyQuery.present, node.anyQuery.absent);
    if (kind !== "other") {
      const held = heldBy(sums);
      const counts = kind === "tld" ? this.tlds : this.domains;
      for (const i of counts.keys()) if ((held & (1 << i)) !== 0) counts[i] += 1;
      if (kind === "domain") countDomain(domains.of(codeOf(held, 0)), sums);
      for (const [i, sum] of sums.entries()) parent.domain.sums[i].add(sum);
    }
    keys.addTo(parent.keys, present, absent);
    domains.addTo(parent.domains, present, absent);
    node.clear();
  }
}

/** The maps with held keys in these totals, as bits. */
function heldBy(sums: readonly RowSums[]): number {
  return sums.reduce((held, { rows, voids }, i) => (rows > voids ? held | (1 << i) : held), 0);
}

function countDomain(numbers: Float64Array, sums: readonly RowSums[]): void {
  numbers[0] += 1;
  for (const [i, { captures }] of sums.entries()) numbers[i + 2] += captures;
}
