// analyze beside cdx-summary of the Internet Archive: `npm run bench:analyze`.
//
//   npx tsx bench/analyze.ts [--lines N] [--rounds N] [--quick] [--scale N]
//
// --scale analyzes N million lines too, given as CDXJ files of at most 16 million, one after the
// other, with --memory 512m; the files are those of bench/memory.ts.
// Both read the same CDX file, made of the sample archive. The numbers that both give are compared
// before any figure is printed; the bench fails where they differ.
import { createReadStream, createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import type { Analysis } from "../src/study/analyze/analysis.ts";
import { mimeGroup } from "../src/study/analyze/summarize.ts";
import { lineBatches } from "../src/bytes/lines.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { contest } from "./contest.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import type { CdxSummaryReport } from "./peers/cdx-summary.ts";
import { cdxSummary } from "./peers/cdx-summary.ts";
import { mementomap } from "./peers/mementomap.ts";

const HOSTS = 20;

const { values } = parseArgs({
  options: {
    lines: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean" },
    scale: { type: "string" },
  },
});
const lines = Number(values.lines ?? (values.quick === true ? 20_000 : 2_000_000));
const rounds = Number(values.rounds ?? (values.quick === true ? 1 : 3));

const folder = await benchFolder();
const cdxj = await madeOnce(folder, `index-${lines}.cdxj`, (path) =>
  mementomap("sample", "--lines", String(lines), "-o", path),
);
const cdx = await madeOnce(folder, `index-${lines}.cdx`, (path) => writeCdx(cdxj, path));
const { peer, missing } = await cdxSummary(folder);

const analysis = await analyzed(cdx);
if (peer !== undefined) {
  const { report } = await peer.summarize(cdx, HOSTS);
  const differences = compare(analysis, report);
  if (differences.length > 0) throw new Error(`the results differ: ${differences.join("; ")}`);
}

console.log(`${machine()}\n`);
console.log(`A CDX file of ${lines.toLocaleString("en")} lines, ${rounds} rounds.\n`);
const args = ["analyze", "--json", "--quiet"];
const standings = await contest(
  [
    { name: "analyze, all cores", run: () => mementomap(...args, cdx) },
    { name: "analyze, one thread", run: () => mementomap(...args, "--threads", "1", cdx) },
    ...(peer === undefined ? [] : [{ name: "cdx-summary", run: () => peer.summarize(cdx, HOSTS) }]),
  ],
  rounds,
);
const rival = standings.at(peer === undefined ? 0 : -1);
console.log(
  markdownTable(
    ["", "best", "median", "processor", "memory", "times as fast", "by processor time"],
    standings.map((row) => [
      row.name,
      seconds(row.bestSeconds),
      seconds(row.medianSeconds),
      seconds(row.cpuSeconds),
      megabytes(row.peakBytes),
      ((rival?.bestSeconds ?? 0) / row.bestSeconds).toFixed(1),
      ((rival?.cpuSeconds ?? 0) / (row.cpuSeconds ?? 1)).toFixed(1),
    ]),
  ),
);
if (missing === undefined) {
  console.log(
    "\nEqual in both: captures, URLs, hosts, first and last datetime, the top hosts, MIME groups by " +
      "status class, path segments by query parameters, years by months.",
  );
} else {
  console.log(`\nWithout cdx-summary: ${missing}`);
}

if (values.scale !== undefined) {
  const million = Number(values.scale);
  const files: string[] = [];
  for (let left = million; left > 0; left -= 16) {
    const count = Math.min(16, left) * 1_000_000;
    files.push(
      await madeOnce(folder, `index-${count}.cdxj`, (path) =>
        mementomap("sample", "--lines", String(count), "-o", path),
      ),
    );
  }
  const run = await mementomap("analyze", "--json", "--quiet", "--memory", "512m", ...files);
  const { index } = JSON.parse(run.stdout) as Analysis;
  const expected = million * 1_000_000;
  if (index.mementos !== expected) throw new Error(`${index.mementos} mementos, not ${expected}`);
  console.log(
    `\n${million} million lines of CDXJ, --memory 512m: ${seconds(run.seconds)}, ` +
      `${seconds(run.cpuSeconds)} of processor time, ${megabytes(run.peakBytes)}; ` +
      `${Math.round(expected / run.seconds).toLocaleString("en")} lines/s.`,
  );
}

async function analyzed(path: string): Promise<Analysis> {
  const run = await mementomap("analyze", "--json", "--quiet", "--top", String(HOSTS), path);
  return JSON.parse(run.stdout) as Analysis;
}

/** The rows of a CDXJ file in the eleven columns of CDX, the only form that cdx-summary reads. */
async function writeCdx(source: string, target: string): Promise<void> {
  const output = createWriteStream(target);
  output.write(" CDX N b a m s k r M S V g\n");
  const decoder = new TextDecoder();
  const chunks = createReadStream(source, { highWaterMark: 1 << 20 });
  for await (const { bytes, starts, ends, count } of lineBatches(chunks, { source })) {
    let text = "";
    for (let i = 0; i < count; i++) {
      const line = decoder.decode(bytes.subarray(starts[i], ends[i]));
      const json = line.indexOf("{");
      const row = JSON.parse(line.slice(json)) as Record<string, string | undefined>;
      const { url = "-", mime = "-", status = "-", digest = "-" } = row;
      const { length = "-", offset = "-", filename = "-" } = row;
      text += `${line.slice(0, json)}${url} ${mime} ${status} ${digest} - - ${length} ${offset} ${filename}\n`;
    }
    if (!output.write(text)) {
      await new Promise<void>((resolve) => {
        output.once("drain", resolve);
      });
    }
  }
  output.end();
  await finished(output);
}

/** What differs of the numbers that both give. */
function compare(ours: Analysis, theirs: CdxSummaryReport): string[] {
  const differences: string[] = [];
  const check = (what: string, a: unknown, b: unknown): void => {
    const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
    if (left !== right)
      differences.push(`${what}: ${left.slice(0, 200)}, not ${right.slice(0, 200)}`);
  };
  const { index, captures, top } = ours;
  check("captures", index.mementos, theirs.captures);
  check("originals", index.originals, theirs.urls);
  check("hosts", index.hosts, theirs.hosts);
  check("first", index.first, theirs.first);
  check("last", index.last, theirs.last);
  const hosts = top.hosts.map(({ name, mementos }): [string, number] => [
    name.slice(0, name.indexOf(")")).split(",").toReversed().join("."),
    mementos,
  ]);
  // A report lists all hosts.
  const listed = Object.entries(theirs.tophosts).toSorted(byCount).slice(0, HOSTS);
  check(
    "counts of top hosts",
    hosts.map(([, count]) => count),
    listed.map(([, count]) => count),
  );
  const least = listed.at(-1)?.[1] ?? 0;
  // Of hosts that share the last place, either may be listed.
  const above = (list: readonly [string, number][]): [string, number][] =>
    list.filter(([, count]) => count > least).toSorted(byCount);
  check("top hosts", above(hosts), above(listed));
  check("MIME by status", mimeStatus(ours), theirMimeStatus(theirs));
  check("path by query", captures.pathQuery, theirPathQuery(theirs));
  const months = captures.yearMonth.map(({ year, months: counts }) => [
    String(year),
    counts.slice(1),
  ]);
  const theirMonths = Object.entries(theirs.yearmonth)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([year, counts]) => [
      year,
      Array.from({ length: 12 }, (_, i) => counts[String(i + 1).padStart(2, "0")] ?? 0),
    ]);
  check("year by month", months, theirMonths);
  return differences;
}

function byCount([a, n]: [string, number], [b, m]: [string, number]): number {
  return m - n || (a < b ? -1 : 1);
}

/** Classes as cdx-summary has them: everything but 200 to 599 is one class. */
function mimeStatus({ captures }: Analysis): unknown {
  const rows = captures.mimeStatus.map(
    ({ group, counts: [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] }) => [group, [a, b, c, d, e + f]],
  );
  return rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

function theirMimeStatus({ mimestatus }: CdxSummaryReport): unknown {
  const rows = new Map<string, number[]>();
  for (const [mime, codes] of Object.entries(mimestatus)) {
    const group = mimeGroup(mime);
    const row = rows.get(group) ?? [0, 0, 0, 0, 0];
    for (const [code, count] of Object.entries(codes)) {
      const column = /^[2-5]/.test(code) ? Number(code[0]) - 2 : 4;
      row[column] = (row[column] ?? 0) + count;
    }
    rows.set(group, row);
  }
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function theirPathQuery({ pathquery }: CdxSummaryReport): number[][] {
  const grid = Array.from({ length: 6 }, () => [0, 0, 0, 0, 0, 0]);
  for (const [path, queries] of Object.entries(pathquery)) {
    const row = grid[Math.min(5, Number(path.slice(1)))] ?? [];
    for (const [query, count] of Object.entries(queries)) {
      const column = Math.min(5, Number(query.slice(1)));
      row[column] = (row[column] ?? 0) + count;
    }
  }
  return grid;
}
