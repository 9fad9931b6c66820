import { QUESTION, STAR } from "../../bytes/bytes.ts";
import { KEY_KIND, LAYER, TreeNode, TreeWalk } from "../../ukvs/key-tree.ts";
import { RowSums } from "../explore/row-sums.ts";
import type { KeyGroups } from "./key-groups.ts";
import { codeOf, OverlapTable } from "./overlap.ts";
import type { SuffixLabels } from "./suffix-labels.ts";

/** Maps, as bits, that have a row which covers something, and those where that row is a void. */
class Coverage {
  present = 0;
  absent = 0;

  add(groups: readonly KeyGroups[], having: number): void {
    for (const [i, group] of groups.entries()) {
      if ((having & (1 << i)) === 0) continue;
      if (group.isVoid) this.absent |= 1 << i;
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
export class OverlapNode extends TreeNode<OverlapNode> {
  kind: "other" | "tld" | "domain" = "other";
  /** Keys of pages at and below the node. */
  readonly keys: OverlapTable;
  /** Keys of the page's queries, until it is known what the maps say about the page. */
  readonly queries: OverlapTable;
  /** Registered domains below the node. */
  readonly domains: OverlapTable;
  /** Sums of each map; of top-level and registered domains only. */
  readonly sums: readonly RowSums[];
  /** By rows that cover all below the node. */
  readonly below = new Coverage();
  /** By rows that cover the page with any query. */
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

interface OverlapVisitor {
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
 * Holds the nodes that the current key begins with: the queries of a page come behind all that is below it.
 */
export class OverlapTree {
  /** Keys that no node has: those without a host. */
  readonly root: OverlapNode;
  readonly #walk: TreeWalk<OverlapNode>;
  /** Maps whose rows for a page speak for all its queries. */
  readonly #withoutQueries: number;
  readonly #suffixLabels: SuffixLabels;
  readonly #visitor: OverlapVisitor;
  /** How many labels of the current host are those of its registered domain; 0: not looked up yet. */
  #domainLabels = 0;
  /** Where the labels of the current key end. */
  #labelsEnd = 0;

  constructor(
    maps: number,
    options: {
      readonly withoutQueries: number;
      readonly suffixLabels: SuffixLabels;
      readonly visitor: OverlapVisitor;
    },
  ) {
    this.root = new OverlapNode(maps);
    this.#walk = new TreeWalk(
      () => new OverlapNode(maps),
      this,
      () => 0xff,
    );
    this.#withoutQueries = options.withoutQueries;
    this.#suffixLabels = options.suffixLabels;
    this.#visitor = options.visitor;
  }

  /** Takes the next key, and the maps that have it. */
  add(groups: readonly KeyGroups[], having: number): void {
    const first = groups[31 - Math.clz32(having)];
    this.#walk.goTo(first.bytes, 0, first.end);
    const { bytes, length, shape } = this.#walk.key;
    const { kind, hostEnd } = shape;
    if (kind === KEY_KIND.opaque) {
      // `*` states the totals once more.
      if (length === 1 && bytes[0] === STAR) return;
      count(this.root.keys, groups, having);
      addSums(this.root, groups, having);
      return;
    }
    this.#labelsEnd = kind === KEY_KIND.spread ? hostEnd - 2 : hostEnd;
    this.#domainLabels = 0;
    const host = this.#walk.enter({ hostEnd: this.#labelsEnd, nodesEnd: this.#labelsEnd });
    addSums(host.domain, groups, having);
    if (kind === KEY_KIND.hostWildcard) host.below.add(groups, having);
    else if (kind === KEY_KIND.pathWildcard) this.#walk.enter(shape).below.add(groups, having);
    else if (kind === KEY_KIND.page) {
      const page = this.#walk.enter(shape);
      count(page.keys, groups, having);
      page.anyQuery.add(groups, having & this.#withoutQueries);
    } else if (kind === KEY_KIND.query) this.#addQuery(groups, having);
  }

  #addQuery(groups: readonly KeyGroups[], having: number): void {
    const { bytes, length, hostEnd, queriedEnd } = this.#walk.key;
    const page = this.#walk.enter({ hostEnd, nodesEnd: queriedEnd });
    const isAny = bytes.indexOf(QUESTION, hostEnd) === length - 2 && bytes[length - 1] === STAR;
    // Where maps are without queries, `?*` is a query as any other.
    count(page.queries, groups, isAny ? having & this.#withoutQueries : having);
    if (isAny) page.anyQuery.add(groups, having & ~this.#withoutQueries);
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
    const { parent = this.root, kind, keys, queries, domains } = node;
    const { present, absent } = node.below;
    queries.addTo(keys, node.anyQuery.present, node.anyQuery.absent);
    const text = (): string => this.#walk.key.text(node.textEnd);
    if (kind === "domain") {
      countDomain(node);
      keys.decide(present, absent);
      this.#visitor.closeDomain(node, text());
      const tld = parent.domain;
      for (const [i, sums] of node.sums.entries()) tld.sums[i].add(sums);
    } else if (present !== 0 && node.layer === LAYER.host && node.domain.kind !== "domain") {
      this.#visitor.wildcard(text(), present);
    }
    if (kind === "tld") {
      keys.decide(present, absent);
      domains.decide(present, absent);
      this.#visitor.closeTld(node, text());
    }
    keys.addTo(parent.keys, present, absent);
    domains.addTo(parent.domains, present, absent);
    node.clear();
  }
}

function countDomain({ domains, sums }: OverlapNode): void {
  let held = 0;
  for (const [i, { rows, voids }] of sums.entries()) if (rows > voids) held |= 1 << i;
  const numbers = domains.of(codeOf(held, 0));
  numbers[0] += 1;
  for (const [i, { captures }] of sums.entries()) numbers[i + 2] += captures;
}

function addSums(node: OverlapNode, groups: readonly KeyGroups[], having: number): void {
  for (const [i, { sums }] of groups.entries()) {
    if ((having & (1 << i)) !== 0) node.sums[i].add(sums);
  }
}

function count(table: OverlapTable, groups: readonly KeyGroups[], having: number): void {
  let [held, no, differs] = [0, 0, 0];
  let captures = -1;
  for (const [i, group] of groups.entries()) {
    if ((having & (1 << i)) === 0) continue;
    if (group.isVoid) {
      no |= 1 << i;
      continue;
    }
    held |= 1 << i;
    if (captures !== -1 && group.sums.captures !== captures) differs = 1;
    captures = group.sums.captures;
  }
  if (held === 0) return;
  const numbers = table.of(codeOf(held, no));
  numbers[0] += 1;
  numbers[1] += differs;
  for (const [i, { sums }] of groups.entries()) {
    if ((held & (1 << i)) !== 0) numbers[i + 2] += sums.captures;
  }
}
