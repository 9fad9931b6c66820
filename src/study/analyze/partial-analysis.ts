import { MementoMapError } from "../../errors.ts";
import type { Edges } from "../../map/compact/edges.ts";
import type { Analysis } from "./analysis.ts";
import { joinTallies, type TallyData } from "./capture-tally.ts";
import { DepthNodes } from "./histogram.ts";
import { HoldingsTree, type OpenNode } from "./holdings-tree.ts";
import { summarize } from "./summarize.ts";

/** What was read of an archive, beside its captures in the order of originals. */
export interface ReadFacts {
  readonly tally: TallyData;
  readonly files: number;
  readonly storedBytes: number | null;
  readonly runs: number;
  /** How many captures were drawn at random. */
  readonly samples: number;
}

/** Adds up what was read in several places. */
export function joinFacts(all: readonly ReadFacts[]): ReadFacts {
  const samples = Math.min(...all.map((facts) => facts.samples));
  return {
    tally: joinTallies(
      all.map(({ tally }) => tally),
      samples,
    ),
    files: all.reduce((sum, { files }) => sum + files, 0),
    storedBytes: all.reduce<number | null>(
      (sum, { storedBytes }) => (sum === null || storedBytes === null ? null : sum + storedBytes),
      0,
    ),
    runs: all.reduce((sum, { runs }) => sum + runs, 0),
    samples,
  };
}

const LISTS = ["topOriginals", "topHosts", "topDomains", "topPaths", "repeated", "tlds"] as const;
const BY_MONTH = ["newOriginals", "yearOriginals"] as const;
const BY_DEPTH = ["hostsByDepth", "keysByHostDepth", "keysByPathDepth"] as const;

type Groups = readonly (readonly [value: number, times: number])[];
type Lists = { readonly [Name in (typeof LISTS)[number]]: ReturnType<HoldingsTree[Name]["best"]> };

/** The trees of one range of originals, as JSON. */
interface HoldingsData
  extends
    Lists,
    Readonly<Record<(typeof BY_MONTH)[number], readonly (readonly [number, number])[]>>,
    Readonly<Record<(typeof BY_DEPTH)[number], readonly number[]>> {
  readonly perOriginal: Groups;
  readonly depths: readonly (readonly { readonly sizes: Groups; readonly families: Groups }[])[];
  readonly ipAddresses: HoldingsTree["ipAddresses"];
  readonly hosts: number;
  readonly keys: number;
  readonly opaque: { readonly keys: number; readonly first: string; readonly last: string };
  readonly openNodes: readonly OpenNode[];
}

/** An analysis of one range of originals, to be joined with those of the others. */
export interface PartialAnalysis {
  readonly partialAnalysis: 1;
  readonly number: number;
  readonly of: number;
  /** Of the cuts between ranges: other cuts make other ranges. */
  readonly cuts: string;
  readonly top: number;
  /** Only in the first range. */
  readonly facts?: ReadFacts | undefined;
  readonly holdings: HoldingsData;
}

/** A file that begins so is a partial analysis. */
export const PARTIAL_START = '{"partialAnalysis":';

export function holdingsData(tree: HoldingsTree): HoldingsData {
  const list = <Name extends (typeof LISTS)[number]>(name: Name): Lists[Name] =>
    tree[name].best() as Lists[Name]; // the list of that name
  return {
    perOriginal: tree.perOriginal.groups(),
    depths: tree.depths.map((nodes) =>
      nodes.map(({ sizes, families }) => ({ sizes: sizes.groups(), families: families.groups() })),
    ),
    topOriginals: list("topOriginals"),
    topHosts: list("topHosts"),
    topDomains: list("topDomains"),
    topPaths: list("topPaths"),
    repeated: list("repeated"),
    tlds: list("tlds"),
    newOriginals: [...tree.newOriginals],
    yearOriginals: [...tree.yearOriginals],
    hostsByDepth: [...tree.hostsByDepth],
    keysByHostDepth: [...tree.keysByHostDepth],
    keysByPathDepth: [...tree.keysByPathDepth],
    ipAddresses: tree.ipAddresses,
    hosts: tree.hosts,
    keys: tree.keys,
    opaque: { keys: tree.opaqueKeys, first: tree.firstOpaque, last: tree.lastOpaque },
    openNodes: tree.openNodes,
  };
}

/** Adds the trees of the next range to those of the ranges before it. */
function addHoldings(tree: HoldingsTree, data: HoldingsData): void {
  tree.perOriginal.addGroups(data.perOriginal);
  for (const [layer, nodes] of data.depths.entries()) {
    for (const [level, { sizes, families }] of nodes.entries()) {
      const own = (tree.depths[layer][level] ??= new DepthNodes());
      own.sizes.addGroups(sizes);
      own.families.addGroups(families);
    }
  }
  for (const original of data.topOriginals) tree.topOriginals.offer(original);
  for (const tld of data.tlds) tree.tlds.offer(tld);
  for (const name of ["topHosts", "topDomains", "topPaths", "repeated"] as const) {
    for (const entry of data[name]) tree[name].offer(entry);
  }
  for (const name of BY_MONTH) {
    for (const [at, count] of data[name]) tree[name].set(at, (tree[name].get(at) ?? 0) + count);
  }
  for (const name of BY_DEPTH) {
    for (const [depth, count] of data[name].entries()) tree[name][depth] += count;
  }
  for (const name of ["hosts", "originals", "mementos"] as const) {
    tree.ipAddresses[name] += data.ipAddresses[name];
  }
  tree.hosts += data.hosts;
  tree.keys += data.keys;
  addOpaque(tree, data.opaque);
}

/** A key without a host may have queries in two ranges. */
function addOpaque(tree: HoldingsTree, { keys, first, last }: HoldingsData["opaque"]): void {
  if (keys === 0) return;
  const again = tree.opaqueKeys > 0 && tree.lastOpaque === first ? 1 : 0;
  tree.opaqueKeys += keys - again;
  tree.keys -= again;
  tree.lastOpaque = last;
}

/** The tree of the captures of one range, that `visit` is called with in order. */
export function treeOfRange(
  top: number,
  edges: Edges,
  eachKey: (visit: (key: Uint8Array, length: number, count: number) => void) => void,
): HoldingsTree {
  const tree = new HoldingsTree(top, edges);
  eachKey((key, length, count) => tree.add(key, length, count));
  tree.end();
  return tree;
}

/**
 * Joins the analyses of all ranges; every number is that of an analysis of all captures at once.
 *
 * @throws MM_BAD_INPUT for ranges that do not belong together or are not all there
 */
export function joinAnalyses(
  partials: readonly { readonly name: string; readonly data: PartialAnalysis }[],
): Analysis {
  const inOrder = partials.toSorted((a, b) => a.data.number - b.data.number);
  const [first] = inOrder;
  const { of, cuts, top, facts } = first.data;
  for (const [i, { name, data }] of inOrder.entries()) {
    const isOther = data.of !== of || data.cuts !== cuts || data.top !== top;
    if (isOther) throw fault(name, `is not of the same cuts and --top as ${first.name}`);
    if (data.number > i + 1) throw fault(first.name, `range ${i + 1} of ${of} is missing`);
    if (data.number < i + 1) throw fault(name, `range ${data.number} is given twice`);
  }
  if (inOrder.length < of)
    throw fault(first.name, `range ${inOrder.length + 1} of ${of} is missing`);
  if (facts === undefined) throw fault(first.name, "does not say what was read");
  const tree = new HoldingsTree(top);
  for (const { data } of inOrder) addHoldings(tree, data.holdings);
  tree.closeOpenNodes(inOrder.flatMap(({ data }) => data.holdings.openNodes));
  return summarize(facts.tally, tree, { ...facts, top });
}

function fault(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source } });
}
