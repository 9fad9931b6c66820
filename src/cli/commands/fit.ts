import { readFile } from "node:fs/promises";
import { BudgetCompaction } from "../../map/compact/budget/budget-compaction.ts";
import type { Prior } from "../../map/compact/budget/prior.ts";
import { formatCount, ioError } from "../../errors.ts";
import {
  type ChildrenFit,
  type DepthChildren,
  DepthCounter,
  fitChildren,
  parseDepthTable,
  type PowerLawFit,
} from "../../map/compact/children-fit.ts";
import { fileChunks } from "../../files/input-file.ts";
import { readMisses } from "../../map/compact/run/budget-files.ts";
import { budgetKernels } from "../../map/compact/run/budget-kernels.ts";
import { withMapSources } from "../../map/lookup/map-sources.ts";
import { fitQuality } from "../../page/text-format.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import { MISSES_OPTIONS, misuse } from "../common/options.ts";
import { type Command, type CommandValues, defineCommand } from "../common/command.ts";
import { ExitCode, type Io, writeOut } from "../common/io.ts";
import { refuseOtherThanMaps } from "../common/map-arguments.ts";
import { warnOfOddLines } from "../common/messages.ts";

export const fit: Command = defineCommand({
  name: "fit",
  summary: "Measure an archive's parameters for compact",
  usage: "[MAP]",
  description: `
Counts, for every depth of hosts and paths, how many children a node has on
average, and fits a power law, A * depth^-K, as the paper did for Arquivo.pt.
The last line of the output consists of options for compact.

It also fits the parameters that compact needs for a given size: Heaps' law, how
the children of a host grow with its keys, and with --misses how many lookups
the estimate from the map is worth compared with those that were seen.

MAP is a map that is not compacted yet. With --table, the counts come from a
table instead: a header line with the columns Depth and MeanChld, or Depth,
Parents and Children, and a row for each depth (H1, H2 ... P0, P1 ...).`,
  options: {
    table: { value: "FILE", help: "Fit the numbers of a depth table." },
    ...MISSES_OPTIONS,
  },
  examples: {
    "the parameters of this archive": "mementomap fit map.ukvs",
    "the same, for scripts": "mementomap fit --json map.ukvs",
  },
  async run({ positionals, values }, io) {
    if (positionals.length > 1 || (positionals.length === 1 && values.table !== undefined)) {
      throw misuse("fit takes one map, or --table");
    }
    const [path = "-"] = positionals;
    if (values.table === undefined) await refuseOtherThanMaps(path);
    const { table, prior } =
      values.table === undefined
        ? await fitMap(path, values, io)
        : { table: await readTable(values.table), prior: undefined };
    const fitted = fitChildren(table);
    const { hostPower: host, pathPower: paths } = fitted;
    const text = values.json
      ? `${JSON.stringify({ depths: table, host, path: paths, prior })}\n`
      : report(table, fitted, prior);
    await writeOut(io.stdout, text);
    return ExitCode.ok;
  },
});

/** Reads a map twice; what cannot be read twice goes to a scratch file first. */
function fitMap(
  path: string,
  { misses, archive, quiet }: CommandValues<typeof MISSES_OPTIONS>,
  io: Io,
): Promise<{ table: DepthChildren[]; prior: Prior | undefined }> {
  return withMapSources([path], { io }, async ([source]) => {
    const { signal } = io.interrupt;
    const read = (): AsyncIterable<Uint8Array> => fileChunks(source, signal);
    const reader = await readUkvs(read(), { source: source.name });
    const counter = new DepthCounter();
    for await (const batch of reader.batches()) {
      for (let i = 0; i < batch.count; i++) {
        counter.add(batch.bytes, batch.keyStarts[i], batch.keyEnds[i]);
      }
    }
    const table = counter.table();
    // A map with more key columns cannot be kept to a size.
    if (reader.headers.fields.keys.length > 1) return { table, prior: undefined };
    const missList =
      misses === undefined ? undefined : await readMisses({ path: misses, archive }, io);
    if (!quiet) warnOfOddLines(io, missList?.oddLines ?? 0);
    const { prior } = await BudgetCompaction.survey(read, {
      source: source.name,
      misses: missList,
      kernels: budgetKernels,
    });
    return { table, prior };
  });
}

async function readTable(path: string): Promise<DepthChildren[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw ioError(error, path);
  });
  return parseDepthTable(text, path);
}

function report(
  table: readonly DepthChildren[],
  { hostPower, pathPower }: ChildrenFit,
  prior: Prior | undefined,
): string {
  const rows = table.map(({ depth, parents, children }) => [
    depth,
    formatCount(parents),
    formatCount(children),
    parents === 0 ? "-" : (children / parents).toFixed(2),
  ]);
  const cells = [["depth", "parents", "children", "mean"], ...rows];
  const lines = cells.map(
    ([depth, ...numbers]) => depth.padEnd(6) + numbers.map((text) => text.padStart(16)).join(""),
  );
  const flags = [
    ...(hostPower === undefined ? [] : [`--host-power ${power(hostPower)}`]),
    ...(pathPower === undefined ? [] : [`--path-power ${power(pathPower)}`]),
  ];
  return [
    ...lines,
    "",
    fitLine("hosts", hostPower),
    fitLine("paths", pathPower),
    ...(prior === undefined ? [] : priorLines(prior)),
    "",
    ...(flags.length === 0 ? [] : [`mementomap compact ${flags.join(" ")}`]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function priorLines(prior: Prior): string[] {
  const heaps = `heaps  children of a host ~ keys^${prior.heapsExponent.toFixed(3)}`;
  if (prior.misses === 0) return [heaps];
  const { betweenHosts, belowHosts, belowFolders } = prior;
  return [
    heaps,
    `prior  worth ${betweenHosts} lookups between hosts, ${belowHosts} below a host,`,
    `       ${belowFolders} below a folder, beside ${formatCount(prior.misses)} that missed`,
  ];
}

function power({ a, k }: PowerLawFit): string {
  return `${Number(a.toPrecision(5))},${Number(k.toPrecision(4))}`;
}

function fitLine(layer: string, law: PowerLawFit | undefined): string {
  if (law === undefined) return `${layer}  too few depths for a fit`;
  const [a, k] = [law.a.toPrecision(5), law.k.toPrecision(4)];
  return `${layer}  children = ${a} * depth^-${k}   (${fitQuality(law)})`;
}
