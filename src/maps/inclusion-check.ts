import { QUESTION, STAR } from "../bytes/bytes.ts";
import { quote } from "../errors.ts";
import type { KeyOptions } from "../surt/key.ts";
import type { Count } from "../ukvs/frequency.ts";
import { KEY_KIND, LAYER, TreeNode, TreeWalk } from "../ukvs/key-tree.ts";
import { type Fault, fault, type FaultCode } from "./map-faults.ts";

/** Limit on exclusions remembered until it is known whether they exclude anything. */
const MAX_PENDING = 10_000;

interface Exclusion {
  readonly line: number;
  readonly key: string;
}

/** A host or path of the map, with the facts known about everything below it. */
class InclusionNode extends TreeNode<InclusionNode> {
  /** The minimum number of mementos stated by the rows below, without the wildcard's own count. */
  included = 0;
  /** Of those, the mementos of the page itself, without a query. */
  bare = 0;
  wildcard: { readonly line: number; readonly count: Count | undefined } | undefined;
  /** Whether a wildcard of this node is present. */
  isPresent = false;
  /** Exclusions with no present key above them so far. */
  pending: Exclusion[] = [];
}

/**
 * Checks rows against each other: a wildcard must include the counts below it, and an exclusion
 * needs a broader present key.
 *
 * Receives the rows of a sorted map one by one. A node stays open while keys begin with its text: the
 * queries of a page, `/a?x`, follow everything below it. Holds the open nodes.
 */
export class InclusionCheck {
  readonly #walk = new TreeWalk(
    () => new InclusionNode(),
    this,
    () => 0xff,
  );
  /** All rows, and the row `*`. */
  readonly #all = new InclusionNode();
  readonly #faults: Fault[] = [];
  #pendingCount = 0;
  #uncheckedCount = 0;
  readonly #hasQueries: boolean;
  readonly #isSample: boolean;

  /** @param isSample whether voids need no key above them: in a sample, all else is unknown. */
  constructor({ queries = false }: KeyOptions, isSample = false) {
    this.#hasQueries = queries;
    this.#isSample = isSample;
  }

  /** Adds the row of the key `bytes[start, end)` with its memento count, undefined if unknown. */
  add(line: number, bytes: Uint8Array, start: number, end: number, count: Count | undefined): void {
    const walk = this.#walk;
    walk.goTo(bytes, start, end);
    const { shape } = walk.key;
    const { kind, hostEnd, nodesEnd } = shape;
    const isZero = count?.value === 0;
    switch (kind) {
      case KEY_KIND.opaque:
        if (end - start === 1 && bytes[start] === STAR) this.#all.wildcard = { line, count };
        else if (isZero) this.#reportIdle({ line, key: walk.key.text() });
        else this.#all.included += atLeast(count);
        return;
      case KEY_KIND.spread: {
        // It covers one path on many hosts: it belongs to many sums and makes up none of them.
        const labelsEnd = hostEnd - 2;
        if (!isZero) walk.enter({ hostEnd: labelsEnd, nodesEnd: labelsEnd }).isPresent = true;
        return;
      }
      case KEY_KIND.hostWildcard:
      case KEY_KIND.pathWildcard:
        this.#addWildcard(walk.enter(shape), line, count);
        return;
      case KEY_KIND.query:
        this.#addQuery(line, count);
        return;
      case KEY_KIND.page:
      case KEY_KIND.queryWildcard: {
        const node = walk.enter({ hostEnd, nodesEnd });
        if (isZero) this.#exclude(node, line);
        else {
          node.included += atLeast(count);
          node.bare += atLeast(count);
        }
      }
    }
  }

  #addWildcard(node: InclusionNode, line: number, count: Count | undefined): void {
    node.wildcard = { line, count };
    if (count?.value === 0) this.#exclude(node.parent, line);
    else node.isPresent = true;
  }

  /** Queries of a page have a node of their own, `com,a)/p?`, whose wildcard includes the page. */
  #addQuery(line: number, count: Count | undefined): void {
    const { key } = this.#walk;
    const { hostEnd, queriedEnd } = key;
    const isZero = count?.value === 0;
    if (!this.#hasQueries) {
      // A row for one query implies nothing about others.
      if (isZero) this.#exclude(this.#walk.enter({ hostEnd, nodesEnd: queriedEnd }), line);
      return;
    }
    const [page = "", query] = key.text().split("?");
    const nodesEnd = key.bytes.indexOf(QUESTION, hostEnd) + 1;
    const node = this.#walk.enter({ hostEnd, pageEnd: queriedEnd, nodesEnd });
    if (query === "*") {
      this.#addWildcard(node, line, count);
      const { parent } = node;
      if (isZero || parent === undefined) return;
      const ofPage = parent.pending.findIndex((exclusion) => exclusion.key === page);
      if (ofPage >= 0) this.#pendingCount -= parent.pending.splice(ofPage, 1).length;
    } else if (isZero) this.#exclude(node, line);
    else node.included += atLeast(count);
  }

  /** Returns the faults that became certain since the last call. */
  take(): Fault[] {
    return this.#faults.splice(0);
  }

  /** Returns the faults that become certain at the end of the map. */
  finish(lastLine: number): Fault[] {
    this.#walk.end();
    this.#checkCount(this.#all, "*");
    if (this.#uncheckedCount > 0) {
      const text = `${this.#uncheckedCount} more exclusions may exclude nothing; they were too many to check`;
      this.#faults.push(fault(lastLine, "idle-exclusion", text));
    }
    return this.take();
  }

  /** Records that the current key is excluded from the keys at or above a node. */
  #exclude(from: InclusionNode | undefined, line: number): void {
    if (isPresentAbove(from)) return;
    const exclusion = { line, key: this.#walk.key.text() };
    if (from === undefined) this.#reportIdle(exclusion);
    else if (this.#isSample) return;
    else if (this.#pendingCount >= MAX_PENDING) this.#uncheckedCount++;
    else {
      from.pending.push(exclusion);
      this.#pendingCount++;
    }
  }

  #reportIdle({ line, key }: Exclusion): void {
    if (this.#isSample) return;
    const text = `key ${quote(key)} excludes nothing: no broader key is present`;
    this.#faults.push(fault(line, "idle-exclusion", text));
  }

  /** Called by the walk. */
  open(node: InclusionNode): void {
    node.included = 0;
    node.bare = 0;
    node.wildcard = undefined;
    node.isPresent = false;
    node.pending = [];
  }

  /** Called by the walk. */
  close(node: InclusionNode): void {
    const text = this.#walk.key.text(node.textEnd);
    const separator = node.layer === LAYER.host ? "," : node.layer === LAYER.query ? "" : "/";
    this.#checkCount(node, `${text}${separator}*`);
    (node.parent ?? this.#all).included += contribution(node);
    this.#settle(node);
  }

  #checkCount(node: InclusionNode, key: string): void {
    const { wildcard } = node;
    const count = wildcard?.count;
    if (wildcard === undefined || count === undefined || count.value === 0) return;
    const included = node.included + bareAbove(node);
    if (count.bound === "atLeast" || count.bound === "about" || count.value >= included) return;
    const code: FaultCode = key === "*" ? "total-too-small" : "wildcard-too-small";
    const text = `key ${quote(key)} states ${count.value} mementos, but the keys it includes state ${included}`;
    this.#faults.push(fault(wildcard.line, code, text));
  }

  /** Resolves the exclusions of a closing node, or passes them to its parent. */
  #settle(node: InclusionNode): void {
    const { parent, pending } = node;
    if (pending.length === 0) return;
    const isSettled = isPresentAbove(node);
    // `X,*` sorts before the keys below X but after the paths of X, and after labels that begin
    // with one of the few characters below `*`.
    const isBeforeStar = parent !== undefined && this.#walk.key.bytes[parent.textEnd + 1] < STAR;
    if (!isSettled && parent !== undefined && (node.layer !== LAYER.host || isBeforeStar)) {
      parent.pending.push(...pending);
      return;
    }
    if (!isSettled) for (const exclusion of pending) this.#reportIdle(exclusion);
    this.#pendingCount -= pending.length;
  }
}

/** Mementos that the wildcard of a query node includes but that are counted above: the page itself. */
function bareAbove({ layer, parent }: InclusionNode): number {
  return layer === LAYER.query ? (parent?.bare ?? 0) : 0;
}

function isPresentAbove(from: InclusionNode | undefined): boolean {
  for (let node = from; node !== undefined; node = node.parent) if (node.isPresent) return true;
  return false;
}

/** The contribution of a closed node to its parent: its wildcard stands for everything below. */
function contribution(node: InclusionNode): number {
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
