import { type Ranked, TopList } from "./top-list.ts";
import { COLON, COMMA, isDigit, QUESTION } from "../../bytes/bytes.ts";
import {
  KEY_KIND,
  keyShape,
  LAYER,
  type Layer,
  TreeNode,
  type TreeVisitor,
  TreeWalk,
} from "../../ukvs/key-tree.ts";
import { yearOf } from "./datetime-check.ts";
import { DepthNodes, Histogram } from "./histogram.ts";
import { monthCode, originalLength } from "./original-key.ts";

/** The holdings of a part of the key tree. */
export interface SubTree extends Ranked {
  /** As a key of a map: `com,example,*`, `com,example)/*`, `com,example)/a/*`. */
  readonly name: string;
  readonly mementos: number;
  readonly originals: number;
  readonly keys: number;
  readonly hosts: number;
  /** The maximum number of mementos of an original in it. */
  readonly largestOriginal: number;
}

/** A frequently archived original. */
interface TopOriginal extends Ranked {
  readonly name: string;
  readonly mementos: number;
}

/** The holdings of one top-level domain. */
interface TldHoldings extends Ranked {
  readonly name: string;
  readonly originals: number;
  readonly mementos: number;
}

/** Depths beyond this are counted together. */
const MAX_DEPTH = 64;

/** The maximum number of top-level domains to distinguish; there are about 1,500. */
const MAX_TLDS = 5000;

const OPEN_BRACKET = 0x5b;

/** An open node, and the holdings of its sub-tree. */
class HoldingsNode extends TreeNode<HoldingsNode> {
  children = 0;
  keys = 0;
  hosts = 0;
  originals = 0;
  mementos = 0;
  largest = 0;
  /** Whether the node itself is a key, not only a prefix of one. */
  isKey = false;

  reset(): void {
    this.children = this.keys = this.hosts = this.originals = this.mementos = this.largest = 0;
    this.isKey = false;
  }

  /** Labels of a host; 0 for a root, 1 for `/a`. */
  get level(): number {
    return Math.min(this.layer === LAYER.host ? this.depth : this.depth - 1, MAX_DEPTH);
  }
}

/**
 * Collects statistics per original, key, host and sub-tree, from captures sorted by original and month
 * (see original-key.ts).
 *
 * One pass. Memory: exact histograms (see {@link Histogram}), top lists, one stack. In byte order a
 * sub-tree is not contiguous (`/a`, `/a-b`, `/a/b`, `/a?x`): nodes stay open until none of their queries
 * can follow.
 */
export class HoldingsTree implements TreeVisitor<HoldingsNode> {
  readonly perOriginal: Histogram = new Histogram();
  readonly depths: readonly [host: DepthNodes[], path: DepthNodes[]] = [[], []];
  readonly topOriginals: TopList<TopOriginal>;
  readonly topHosts: TopList<SubTree>;
  readonly topDomains: TopList<SubTree>;
  readonly topPaths: TopList<SubTree>;
  /** Hosts ranked by captures beyond the first of each original. */
  readonly repeated: TopList<SubTree>;
  readonly tlds: TopList<TldHoldings> = new TopList(MAX_TLDS);
  readonly ipAddresses: { hosts: number; originals: number; mementos: number } = {
    hosts: 0,
    originals: 0,
    mementos: 0,
  };
  /** Originals by the month of their first capture; 0 for no datetime. */
  readonly newOriginals: Map<number, number> = new Map();
  readonly yearOriginals: Map<number, number> = new Map();
  readonly hostsByDepth: Float64Array = new Float64Array(MAX_DEPTH + 1);
  readonly keysByHostDepth: Float64Array = new Float64Array(MAX_DEPTH + 1);
  readonly keysByPathDepth: Float64Array = new Float64Array(MAX_DEPTH + 1);
  hosts = 0;
  keys = 0;
  opaqueKeys = 0;

  readonly #walk: TreeWalk<HoldingsNode> = new TreeWalk(
    () => new HoldingsNode(),
    this,
    (layer) => (layer === LAYER.host ? COMMA : QUESTION),
  );
  /** The captures of the current original. */
  #mementos = 0;
  #lastYear = -1;
  /** The last key without a host, to count each once. */
  #lastOpaque = "";
  /** @param top the length of each list of most archived items. */
  constructor(top: number) {
    this.topOriginals = new TopList(top);
    this.topHosts = new TopList(top);
    this.topDomains = new TopList(top);
    this.topPaths = new TopList(top);
    this.repeated = new TopList(top * 4);
  }

  /** Adds the next sort key, `key[0, length)`, with its number of captures. */
  add(key: Uint8Array, length: number, count: number): void {
    const end = originalLength(length);
    const month = monthCode(key, length);
    const walk = this.#walk;
    const isSame = end === walk.key.length && endsAlike(key, walk.key.bytes, end);
    if (!isSame) {
      this.#closeOriginal();
      walk.goTo(key, 0, end);
      this.newOriginals.set(month, (this.newOriginals.get(month) ?? 0) + 1);
    }
    this.#mementos += count;
    const year = yearOf(month);
    if (year !== -1 && (!isSame || year !== this.#lastYear)) {
      this.yearOriginals.set(year, (this.yearOriginals.get(year) ?? 0) + 1);
    }
    this.#lastYear = year;
  }

  end(): void {
    this.#closeOriginal();
    this.#walk.end();
  }

  #closeOriginal(): void {
    const mementos = this.#mementos;
    if (mementos === 0) return;
    this.#mementos = 0;
    this.perOriginal.add(mementos);
    const { bytes: key, length } = this.#walk.key;
    if (this.topOriginals.accepts(mementos)) {
      this.topOriginals.offer({ name: this.#walk.key.text(), rank: mementos, mementos });
    }
    let keyLength = 0;
    while (keyLength < length && key[keyLength] !== QUESTION) keyLength++;
    const shape = keyShape(key, keyLength);
    if (shape.kind === KEY_KIND.page) this.#addToTree(this.#walk.enter(shape), mementos);
    else this.#addOpaque(keyLength);
  }

  #addOpaque(keyLength: number): void {
    const key = this.#walk.key.text(keyLength);
    if (key === this.#lastOpaque) return;
    this.#lastOpaque = key;
    this.opaqueKeys++;
    this.keys++;
  }

  #addToTree(leaf: HoldingsNode, mementos: number): void {
    if (!leaf.isKey) {
      leaf.isKey = true;
      leaf.keys++;
      this.keys++;
      this.keysByPathDepth[leaf.level]++;
    }
    leaf.originals++;
    leaf.mementos += mementos;
    leaf.largest = Math.max(leaf.largest, mementos);
  }

  open(node: HoldingsNode): void {
    node.reset();
    // The path root of a host does not count as its child; sub-domains do.
    if (node.parent !== undefined && node.layer !== LAYER.root) node.parent.children++;
  }

  close(node: HoldingsNode): void {
    const { bytes: key } = this.#walk.key;
    const { layer, level, parent, keys, children } = node;
    this.#depthNodes(layer, level).sizes.add(keys);
    if (children > 0) {
      this.#depthNodes(layer, Math.min(level + 1, MAX_DEPTH)).families.add(children);
    }
    if (layer === LAYER.root) this.#closeHost(node, key);
    else if (parent === undefined) this.#closeTld(node, key);
    else this.#rank(node, key);
    if (parent === undefined) return;
    parent.keys += keys;
    parent.hosts += node.hosts;
    parent.originals += node.originals;
    parent.mementos += node.mementos;
    parent.largest = Math.max(parent.largest, node.largest);
  }

  #depthNodes(layer: Layer, level: number): DepthNodes {
    const layers = this.depths[layer === LAYER.host ? 0 : 1];
    for (let next = layers.length; next <= level; next++) layers.push(new DepthNodes());
    return layers[level];
  }

  #closeHost(node: HoldingsNode, key: Uint8Array): void {
    const { keys, mementos, originals, textEnd } = node;
    const depth = node.parent?.level ?? 0;
    node.hosts = 1;
    this.hosts++;
    this.hostsByDepth[depth]++;
    this.keysByHostDepth[depth] += keys;
    if (isIpAddress(key, textEnd - 1)) {
      this.ipAddresses.hosts++;
      this.ipAddresses.originals += originals;
      this.ipAddresses.mementos += mementos;
    }
    this.#offer(this.topHosts, node, key, mementos);
    this.#offer(this.repeated, node, key, mementos - originals);
  }

  #closeTld({ originals, mementos, textEnd }: HoldingsNode, key: Uint8Array): void {
    // A label of digits, or in brackets, is part of an IP address.
    const [first] = key;
    if (isDigit(first) || first === OPEN_BRACKET || !this.tlds.accepts(originals)) return;
    this.tlds.offer({ name: textOf(key, textEnd), rank: originals, originals, mementos });
  }

  #rank(node: HoldingsNode, key: Uint8Array): void {
    // A sub-tree of a single key or host is already listed as a key or host.
    if (node.layer === LAYER.host) {
      if (node.hosts >= 2) this.#offer(this.topDomains, node, key, node.mementos);
    } else if (node.keys >= 2) {
      this.#offer(this.topPaths, node, key, node.mementos);
    }
  }

  #offer(list: TopList<SubTree>, node: HoldingsNode, key: Uint8Array, rank: number): void {
    if (!list.accepts(rank)) return;
    const { layer, mementos, originals, keys, hosts, largest } = node;
    const name = textOf(key, node.textEnd) + (layer === LAYER.host ? ",*" : "/*");
    list.offer({ name, rank, mementos, originals, keys, hosts, largestOriginal: largest });
  }
}

function textOf(key: Uint8Array, end: number): string {
  return new TextDecoder().decode(key.subarray(0, end));
}

/** Compares from the end, where sorted keys differ. */
function endsAlike(key: Uint8Array, other: Uint8Array, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (key[i] !== other[i]) return false;
  return true;
}

/** Four numbers in reverse (an IPv4 address in a SURT), or an IPv6 address in brackets. */
function isIpAddress(key: Uint8Array, hostEnd: number): boolean {
  if (key[0] === OPEN_BRACKET) return true;
  let labels = 1;
  for (let at = 0; at < hostEnd && key[at] !== COLON; at++) {
    if (key[at] === COMMA) labels++;
    else if (!isDigit(key[at])) return false;
  }
  return labels === 4;
}
