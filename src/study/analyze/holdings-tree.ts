import { type Ranked, TopList } from "./bounded.ts";
import { COLON, COMMA, commonPrefix, isDigit, QUESTION, SLASH } from "../../bytes/bytes.ts";
import { KEY_KIND, KeyShape } from "../../map/compact/key-tree.ts";
import { yearOf } from "./faults.ts";
import { DepthNodes, Histogram } from "./histogram.ts";
import { monthCode, originalLength } from "./original-key.ts";

/** What a part of the tree of keys holds. */
export interface SubTree extends Ranked {
  /** As a key of a map: `com,example,*`, `com,example)/*`, `com,example)/a/*`. */
  readonly name: string;
  readonly mementos: number;
  readonly originals: number;
  readonly keys: number;
  readonly hosts: number;
  /** The most mementos that one original in it has. */
  readonly largestOriginal: number;
}

/** An original that is archived often. */
interface TopOriginal extends Ranked {
  /** Its SURT. */
  readonly name: string;
  readonly mementos: number;
}

/** What is held under one top-level domain. */
interface TldHoldings extends Ranked {
  readonly name: string;
  readonly originals: number;
  readonly mementos: number;
}

/** Depths beyond this are counted together. */
const MAX_DEPTH = 64;

/** How many top-level domains are told apart; there are about 1,500. */
const MAX_TLDS = 5000;

const HOST = 0;
const PATH = 1;

/** Nodes of the tree from the root to the current key, as columns. */
class OpenNodes {
  readonly end: number[] = [];
  readonly layer: number[] = [];
  readonly depth: number[] = [];
  readonly parent: number[] = [];
  readonly children: number[] = [];
  readonly keys: number[] = [];
  readonly hosts: number[] = [];
  readonly originals: number[] = [];
  readonly mementos: number[] = [];
  readonly largest: number[] = [];
  /** 1 for a node that is a key itself, and not only on the way to one. */
  readonly isKey: number[] = [];
  size = 0;

  push(end: number, layer: number, depth: number, parent: number): number {
    const at = this.size++;
    this.end[at] = end;
    this.layer[at] = layer;
    this.depth[at] = depth;
    this.parent[at] = parent;
    this.children[at] = this.keys[at] = this.hosts[at] = 0;
    this.originals[at] = this.mementos[at] = this.largest[at] = this.isKey[at] = 0;
    return at;
  }
}

/**
 * Takes the captures of an archive sorted by original and month (see original-key.ts), and finds
 * what needs all captures of an original, key, host or sub-tree side by side.
 *
 * One pass. Memory: exact histograms (see {@link Histogram}), lists of the best, one stack. In byte
 * order a sub-tree is not contiguous (`/a`, `/a-b`, `/a/b`, `/a?x`), so nodes stay open while the
 * current original starts with their text, as in `DepthCounter`.
 */
export class HoldingsTree {
  /** Mementos of each original. */
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
  /** Originals by the month they were first captured in; 0 for no datetime. */
  readonly newOriginals: Map<number, number> = new Map();
  /** Originals captured in a year. */
  readonly yearOriginals: Map<number, number> = new Map();
  readonly hostsByDepth: Float64Array = new Float64Array(MAX_DEPTH + 1);
  readonly keysByHostDepth: Float64Array = new Float64Array(MAX_DEPTH + 1);
  readonly keysByPathDepth: Float64Array = new Float64Array(MAX_DEPTH + 1);
  hosts = 0;
  keys = 0;
  /** Keys that have no host. */
  opaqueKeys = 0;

  readonly #nodes = new OpenNodes();
  readonly #shape = new KeyShape();
  readonly #decoder = new TextDecoder();
  /** The original that is being counted. */
  #original: Uint8Array = new Uint8Array(1024);
  #originalLength = -1;
  /** Bytes that it shares with the original before it. */
  #shared = 0;
  #mementos = 0;
  #lastYear = -1;
  /** The last key without host, to count each once. */
  #opaqueKey = "";
  /** Open nodes before this one end before the node that is looked for. */
  #cursor = 0;

  /** @param top how many originals, hosts and so on to keep of the most archived. */
  constructor(top: number) {
    this.topOriginals = new TopList(top);
    this.topHosts = new TopList(top);
    this.topDomains = new TopList(top);
    this.topPaths = new TopList(top);
    this.repeated = new TopList(top * 4);
  }

  /** Takes the next sort key, `key[0, length)`, and how many captures it has. */
  add(key: Uint8Array, length: number, count: number): void {
    const end = originalLength(length);
    const month = monthCode(key, length);
    const isSame = end === this.#originalLength && endsAlike(key, this.#original, end);
    if (!isSame) this.#startOriginal(key, end, month);
    this.#mementos += count;
    const year = yearOf(month);
    if (year !== -1 && (!isSame || year !== this.#lastYear)) {
      this.yearOriginals.set(year, (this.yearOriginals.get(year) ?? 0) + 1);
    }
    this.#lastYear = year;
  }

  /** Call after the last one. */
  end(): void {
    this.#closeOriginal();
    this.#closeNodes(-1);
  }

  #startOriginal(key: Uint8Array, end: number, month: number): void {
    this.#closeOriginal();
    const shared = commonPrefix(key, 0, end, this.#original, 0, Math.max(0, this.#originalLength));
    // Nodes take their names from the bytes of the original, so they go before it does.
    this.#closeNodes(shared);
    if (end > this.#original.length) this.#original = grown(this.#original, end);
    const original = this.#original;
    for (let i = shared; i < end; i++) original[i] = key[i];
    this.#originalLength = end;
    this.#shared = shared;
    this.newOriginals.set(month, (this.newOriginals.get(month) ?? 0) + 1);
  }

  #closeOriginal(): void {
    const mementos = this.#mementos;
    if (mementos === 0) return;
    this.#mementos = 0;
    this.perOriginal.add(mementos);
    const [original, length] = [this.#original, this.#originalLength];
    if (this.topOriginals.accepts(mementos)) {
      const name = this.#decoder.decode(original.subarray(0, length));
      this.topOriginals.offer({ name, rank: mementos, mementos });
    }
    let keyLength = 0;
    while (keyLength < length && original[keyLength] !== QUESTION) keyLength++;
    this.#shape.set(original, keyLength, Math.min(this.#shared, keyLength));
    if (this.#shape.kind === KEY_KIND.page) this.#addToTree(keyLength, mementos);
    else this.#addOpaque(keyLength);
  }

  #addOpaque(keyLength: number): void {
    const key = this.#decoder.decode(this.#original.subarray(0, keyLength));
    if (key === this.#opaqueKey) return;
    this.#opaqueKey = key;
    this.opaqueKeys++;
    this.keys++;
  }

  #addToTree(keyLength: number, mementos: number): void {
    const nodes = this.#nodes;
    const leaf = this.#openNodes(this.#original, keyLength, this.#shape.hostEnd);
    if (nodes.isKey[leaf] === 0) {
      nodes.isKey[leaf] = 1;
      nodes.keys[leaf]++;
      this.keys++;
      this.keysByPathDepth[nodes.depth[leaf]]++;
    }
    nodes.originals[leaf]++;
    nodes.mementos[leaf] += mementos;
    if (mementos > nodes.largest[leaf]) nodes.largest[leaf] = mementos;
  }

  /** Opens the nodes of a key that are not open yet; returns its last one. */
  #openNodes(key: Uint8Array, length: number, hostEnd: number): number {
    let node = -1;
    let depth = 0;
    this.#cursor = 0;
    for (let at = 1; at <= hostEnd; at++) {
      if (at < hostEnd && key[at] !== COMMA) continue;
      node = this.#open(at, HOST, ++depth, node);
    }
    node = this.#open(hostEnd + 1, PATH, 0, node);
    if (length === hostEnd + 2) return node;
    depth = 0;
    for (let at = hostEnd + 2; at <= length; at++) {
      if (at < length && key[at] !== SLASH) continue;
      node = this.#open(at, PATH, ++depth, node);
    }
    return node;
  }

  #open(end: number, layer: number, depth: number, parent: number): number {
    const nodes = this.#nodes;
    while (this.#cursor < nodes.size && nodes.end[this.#cursor] < end) this.#cursor++;
    if (this.#cursor < nodes.size && nodes.end[this.#cursor] === end) return this.#cursor;
    // The path root of a host does not count as its child; sub-domains do.
    if (parent !== -1 && depth > 0) nodes.children[parent]++;
    return nodes.push(end, layer, Math.min(depth, MAX_DEPTH), parent);
  }

  /** Closes nodes whose text is longer than what the next key shares with the last. */
  #closeNodes(shared: number): void {
    const nodes = this.#nodes;
    while (nodes.size > 0 && nodes.end[nodes.size - 1] > shared) this.#closeNode(nodes.size - 1);
  }

  #closeNode(at: number): void {
    const nodes = this.#nodes;
    const [layer, depth, parent] = [nodes.layer[at], nodes.depth[at], nodes.parent[at]];
    this.#depthNodes(layer, depth).sizes.add(nodes.keys[at]);
    if (nodes.children[at] > 0) {
      this.#depthNodes(layer, Math.min(depth + 1, MAX_DEPTH)).families.add(nodes.children[at]);
    }
    if (layer === PATH && depth === 0) this.#closeHost(at);
    else if (layer === HOST && depth === 1) this.#closeTld(at);
    else this.#rank(at);
    if (parent !== -1) {
      nodes.keys[parent] += nodes.keys[at];
      nodes.hosts[parent] += nodes.hosts[at];
      nodes.originals[parent] += nodes.originals[at];
      nodes.mementos[parent] += nodes.mementos[at];
      if (nodes.largest[at] > nodes.largest[parent]) nodes.largest[parent] = nodes.largest[at];
    }
    nodes.size = at;
  }

  #depthNodes(layer: number, depth: number): DepthNodes {
    const layers = layer === HOST ? this.depths[0] : this.depths[1];
    for (let next = layers.length; next <= depth; next++) layers.push(new DepthNodes());
    return layers[depth];
  }

  #closeHost(at: number): void {
    const nodes = this.#nodes;
    const depth = nodes.depth[nodes.parent[at]];
    nodes.hosts[at] = 1;
    this.hosts++;
    this.hostsByDepth[depth]++;
    this.keysByHostDepth[depth] += nodes.keys[at];
    const hostEnd = nodes.end[at] - 1;
    if (isIpAddress(this.#original, hostEnd)) {
      this.ipAddresses.hosts++;
      this.ipAddresses.originals += nodes.originals[at];
      this.ipAddresses.mementos += nodes.mementos[at];
    }
    const [mementos, originals] = [nodes.mementos[at], nodes.originals[at]];
    if (this.topHosts.accepts(mementos)) this.topHosts.offer(this.#subTree(at, mementos));
    const repeats = mementos - originals;
    if (this.repeated.accepts(repeats)) this.repeated.offer(this.#subTree(at, repeats));
  }

  #closeTld(at: number): void {
    const nodes = this.#nodes;
    // A label of digits, or in brackets, is a part of an address.
    if (isDigit(this.#original[0]) || this.#original[0] === 0x5b) return;
    const [originals, mementos] = [nodes.originals[at], nodes.mementos[at]];
    if (!this.tlds.accepts(originals)) return;
    const name = this.#decoder.decode(this.#original.subarray(0, nodes.end[at]));
    this.tlds.offer({ name, rank: originals, originals, mementos });
  }

  #rank(at: number): void {
    const nodes = this.#nodes;
    // A sub-tree of a single key or host is listed as such already.
    if (nodes.layer[at] === PATH ? nodes.keys[at] < 2 : nodes.hosts[at] < 2) return;
    const list = nodes.layer[at] === PATH ? this.topPaths : this.topDomains;
    const mementos = nodes.mementos[at];
    if (list.accepts(mementos)) list.offer(this.#subTree(at, mementos));
  }

  #subTree(at: number, rank: number): SubTree {
    const nodes = this.#nodes;
    const text = this.#decoder.decode(this.#original.subarray(0, nodes.end[at]));
    return {
      name: `${text}${nodes.layer[at] === HOST ? ",*" : "/*"}`,
      rank,
      mementos: nodes.mementos[at],
      originals: nodes.originals[at],
      keys: nodes.keys[at],
      hosts: nodes.hosts[at],
      largestOriginal: nodes.largest[at],
    };
  }
}

/** Compares from the end: sorted keys differ there. */
function endsAlike(key: Uint8Array, other: Uint8Array, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (key[i] !== other[i]) return false;
  return true;
}

function grown(bytes: Uint8Array, length: number): Uint8Array {
  const larger = new Uint8Array(length * 2);
  larger.set(bytes);
  return larger;
}

/** Four numbers in reverse, as SURTs have IPv4 addresses, or an IPv6 address in brackets. */
function isIpAddress(key: Uint8Array, hostEnd: number): boolean {
  if (key[0] === 0x5b) return true;
  let labels = 1;
  for (let at = 0; at < hostEnd && key[at] !== COLON; at++) {
    if (key[at] === COMMA) labels++;
    else if (!isDigit(key[at])) return false;
  }
  return labels === 4;
}
