import { fitChildren } from "../../compact/children-fit.ts";
import type {
  Analysis,
  CaptureTables,
  ExactDepthRow,
  Fault,
  GrowthPoint,
  MalformedTables,
  MalformedValues,
  Method,
  SubTreeRow,
  TldRow,
  TldTable,
  TopTables,
  YearRow,
} from "./analysis.ts";
import { GRID_SIZE, STATUS_CLASSES, type Tally, type ValueCounts } from "./capture-tally.ts";
import { codeOf, monthName, yearOf } from "./datetime-check.ts";
import { depthRows, fitHeaps, globalReduction, incrementalReduction } from "./histogram.ts";
import type { HoldingsTree, SubTree } from "./holdings-tree.ts";

interface RunFacts {
  readonly files: number;
  readonly storedBytes: number | null;
  readonly runs: number;
  readonly top: number;
}

const LISTED_MIME_TYPES = 50;
const MALFORMED_EXAMPLES = 10;

/** Combines the counts of all captures and the sorted tree into an analysis. */
export function summarize(tally: Tally, tree: HoldingsTree, facts: RunFacts): Analysis {
  const distribution = tree.perOriginal.summary();
  const growth = growthPoints(tally, tree);
  const [hostDepths, pathDepths] = tree.depths;
  const depths = [
    ...depthRows("H", hostDepths, tree.keys),
    ...depthRows("P", pathDepths, tree.keys),
  ];
  return {
    index: {
      files: facts.files,
      storedBytes: facts.storedBytes,
      lines: tally.lines,
      mementos: tally.mementos,
      originals: distribution.count,
      keys: tree.keys,
      hosts: tree.hosts,
      ipAddresses: tree.ipAddresses.hosts,
      first: tally.last === 0 ? "" : String(tally.first),
      last: tally.last === 0 ? "" : String(tally.last),
    },
    tlds: tldTable(tree, facts.top),
    distribution: {
      ...distribution,
      gini: tree.perOriginal.gini(),
      paretoShare: tree.perOriginal.paretoShare(),
      concentration: tree.perOriginal.concentration(),
      lorenz: tree.perOriginal.lorenz(),
    },
    top: topTables(tree, distribution.mean, facts.top),
    malformed: malformedTables(tally),
    years: yearRows(tally, tree),
    growth,
    exactDepths: exactDepths(tree),
    depths,
    reduction: {
      hostGlobal: globalReduction("H", hostDepths, tree.keys),
      pathGlobal: globalReduction("P", pathDepths, tree.keys),
      hostIncremental: incrementalReduction("H", hostDepths),
      pathIncremental: incrementalReduction("P", pathDepths),
    },
    fits: {
      ...fitChildren(depths),
      heaps: fitHeaps(growth.map(({ mementos, originals }) => ({ x: mementos, y: originals }))),
    },
    captures: captureTables(tally),
    method: method(tally, tree, facts),
  };
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function tldTable(tree: HoldingsTree, top: number): TldTable {
  const { count, sum } = tree.perOriginal;
  const row = (tld: string, originals: number, mementos: number): TldRow => ({
    tld,
    originals,
    mementos,
    originalShare: share(originals, count),
    mementoShare: share(mementos, sum),
  });
  const rows = tree.tlds
    .best()
    .slice(0, top)
    .map(({ name, originals, mementos }) => row(name, originals, mementos));
  const ip = tree.ipAddresses;
  const listed = [ip, ...rows];
  const others = (of: "originals" | "mementos"): number =>
    listed.reduce((sum, listedRow) => sum + listedRow[of], 0);
  return {
    rows,
    ipAddresses: row("IP addresses", ip.originals, ip.mementos),
    other: row("other", count - others("originals"), sum - others("mementos")),
  };
}

function topTables(tree: HoldingsTree, gamma: number, top: number): TopTables {
  const rows = (list: readonly SubTree[]): SubTreeRow[] =>
    list.map(({ rank: _rank, ...tree }) => ({
      ...tree,
      gamma: share(tree.mementos, tree.originals),
      largestShare: share(tree.largestOriginal, tree.mementos),
      excess: tree.mementos - tree.originals * gamma,
    }));
  const biases = rows(tree.repeated.best())
    .filter(({ excess }) => excess > 0)
    .sort((a, b) => b.excess - a.excess || (a.name < b.name ? -1 : 1));
  return {
    originals: tree.topOriginals.best().map(({ name, mementos }) => ({ surt: name, mementos })),
    hosts: rows(tree.topHosts.best()),
    domains: rows(tree.topDomains.best()),
    paths: rows(tree.topPaths.best()),
    biases: biases.slice(0, top),
  };
}

function malformedTables(tally: Tally): MalformedTables {
  const mimes = sortedValues(tally.mimes).filter(({ value }) => isMalformedMime(value));
  return {
    mimeTypes: malformedValues(mimes, 0),
    statusCodes: malformedValues(sortedValues(tally.badStatuses), total(tally.badStatuses.rest)),
    datetimes: faults(tally.datetimeFaults),
    lines: faults(tally.lineFaults),
  };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Sorts by the total over all columns, largest first. */
function sortedValues({ values }: ValueCounts): { value: string; count: number }[] {
  return [...values]
    .map(([value, counts]) => ({ value, count: total(counts) }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

function faults(tally: Tally["lineFaults"]): Fault[] {
  return [...tally]
    .map(([fault, { count, examples }]) => ({
      fault,
      count,
      examples: examples.drawn.map(({ text }) => text),
    }))
    .sort((a, b) => b.count - a.count || (a.fault < b.fault ? -1 : 1));
}

function malformedValues(values: MalformedValues["examples"], rest: number): MalformedValues {
  return {
    count: values.reduce((sum, { count }) => sum + count, rest),
    distinct: values.length,
    examples: values.slice(0, MALFORMED_EXAMPLES),
  };
}

function sortedYears({ years }: Tally) {
  return [...years].sort(([a], [b]) => a - b);
}

function yearRows(tally: Tally, tree: HoldingsTree): YearRow[] {
  const newInYear = new Map<number, number>();
  for (const [code, count] of tree.newOriginals) {
    const year = yearOf(code);
    newInYear.set(year, (newInYear.get(year) ?? 0) + count);
  }
  // Captures without a datetime come before all others.
  let cumulativeOriginals = newInYear.get(-1) ?? 0;
  let cumulativeMementos = total(tally.undated);
  return sortedYears(tally).map(([year, { statuses }]) => {
    const originals = tree.yearOriginals.get(year) ?? 0;
    const fresh = newInYear.get(year) ?? 0;
    const mementos = total(statuses);
    cumulativeOriginals += fresh;
    cumulativeMementos += mementos;
    return {
      year,
      originals,
      cumulativeOriginals,
      mementos,
      cumulativeMementos,
      duplicateShare: share(originals - fresh, originals),
      gamma: share(mementos, originals),
      cumulativeGamma: share(cumulativeMementos, cumulativeOriginals),
      statusShares: statuses.map((count) => share(count, mementos)),
    };
  });
}

function growthPoints(tally: Tally, tree: HoldingsTree): GrowthPoint[] {
  let originals = tree.newOriginals.get(0) ?? 0;
  let mementos = total(tally.undated);
  return sortedYears(tally).flatMap(([year, { months }]) =>
    months.flatMap((count, month) => {
      if (count === 0) return [];
      const code = codeOf(year, month);
      mementos += count;
      originals += tree.newOriginals.get(code) ?? 0;
      return [{ month: monthName(code), mementos, originals }];
    }),
  );
}

function exactDepths(tree: HoldingsTree): ExactDepthRow[] {
  const { hostsByDepth, keysByHostDepth, keysByPathDepth } = tree;
  const rows = Array.from(hostsByDepth, (hosts, depth) => ({
    depth,
    hosts,
    keysByHost: keysByHostDepth[depth],
    keysByPath: keysByPathDepth[depth],
  }));
  const last = rows.findLastIndex((row) => row.hosts > 0 || row.keysByPath > 0);
  return rows.slice(0, last + 1);
}

function captureTables(tally: Tally): CaptureTables {
  const grid = new Map(MIME_GROUPS.map((group) => [group, STATUS_CLASSES.map(() => 0)]));
  const addToGrid = (group: string, counts: readonly number[]): void => {
    const row = grid.get(group) ?? [];
    for (const [i, count] of counts.entries()) row[i] += count;
  };
  for (const [value, counts] of tally.mimes.values) addToGrid(mimeGroup(value), counts);
  addToGrid("Other", tally.mimes.rest);
  return {
    mimeStatus: [...grid]
      .map(([group, counts]) => ({ group, counts }))
      .filter(({ counts }) => total(counts) > 0),
    mimeTypes: sortedValues(tally.mimes)
      .slice(0, LISTED_MIME_TYPES)
      .map(({ value, count }) => ({ mime: value, count })),
    statusCodes: tally.statusCodes.flatMap((count, status) =>
      count === 0 ? [] : [{ status, count }],
    ),
    pathQuery: Array.from({ length: GRID_SIZE }, (_, path) =>
      tally.pathQuery.slice(path * GRID_SIZE, (path + 1) * GRID_SIZE),
    ),
    yearMonth: sortedYears(tally).map(([year, { months }]) => ({ year, months })),
    samples: tally.samples.drawn.map(({ text }) => {
      const blank = text.indexOf(" ");
      return { datetime: text.slice(0, blank), uri: text.slice(blank + 1) };
    }),
  };
}

function method(tally: Tally, tree: HoldingsTree, facts: RunFacts): Method {
  const lostMimes = total(tally.mimes.rest);
  const notes = [
    "The input was read once. Statistics that require all captures of an original (distinct " +
      "counts, distribution, trees, years) come from a sort by original and month.",
    "All numbers are exact; distributions are kept as histograms of distinct values.",
    "Hosts with different ports are different hosts. An original is a SURT with its query.",
  ];
  if (lostMimes > 0) {
    notes.push(`More than 32,768 MIME types: ${lostMimes} captures are counted as Other.`);
  }
  if (tree.opaqueKeys > 0) {
    notes.push(`${tree.opaqueKeys} keys have no host and are in no depth table.`);
  }
  return { passes: 1, runs: facts.runs, exact: lostMimes === 0, notes };
}

/** Groups of cdx-summary (Internet Archive), by the type or subtype that names them. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ["html", "HTML"],
  ["image", "Image"],
  ["css", "CSS"],
  ["javascript", "JavaScript"],
  ["json", "JSON"],
  ["xml", "XML"],
  ["plain", "Text"],
  ["pdf", "PDF"],
  ["font", "Font"],
  ["audio", "Audio"],
  ["video", "Video"],
  ["revisit", "Revisit"],
]);
const MIME_GROUPS = [...NAMED.values(), "Other"];

/** The group of a MIME type; parameters such as `; charset=utf-8` are ignored. */
export function mimeGroup(mime: string): string {
  const [type = "", subtype = ""] = essence(mime).split("/", 2);
  const named = NAMED.get(subtype) ?? NAMED.get(type);
  if (named !== undefined) return named;
  if (subtype.startsWith("xhtml")) return "HTML";
  if (subtype.endsWith("+xml") || subtype.startsWith("xml-")) return "XML";
  return "Other";
}

/** The characters of a token of RFC 9110. */
const WELL_FORMED = /^[a-z0-9!#$%&'*+.^_`|~-]+\/[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** Placeholders in indexes for a missing or unknown MIME type. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(["", "-", "unk", "no-type"]);

/** Whether a value of the MIME column is neither a MIME type nor a placeholder. */
export function isMalformedMime(mime: string): boolean {
  return !PLACEHOLDERS.has(mime) && !WELL_FORMED.test(essence(mime));
}

function essence(mime: string): string {
  return (mime.split(";", 1)[0] ?? "").trim().toLowerCase();
}
