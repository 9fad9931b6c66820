import { readFile } from "node:fs/promises";
import { MementoMapError } from "../../errors.ts";
import type { ChildrenFit, DepthChildren } from "../../fit/children-fit.ts";
import { fitChildren } from "../../fit/children-fit.ts";
import { DepthCounter } from "../../fit/depth-counter.ts";
import { parseDepthTable } from "../../fit/depth-table.ts";
import type { PowerLawFit } from "../../fit/power-law.ts";
import { openInput } from "../../node/input-file.ts";
import { ioError } from "../../node/io-error.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import type { Command } from "../command.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { ExitCode, writeText } from "../io.ts";
import { formatCount } from "../sizes.ts";

export const fit: Command = defineCommand({
  name: "fit",
  summary: "Find an archive's own parameters for compact",
  usage: "[MAP]",
  description: `
Counts, for every depth of hosts and paths, how many children a node has on
average, and fits a power law, A * depth^-K, as the paper did for Arquivo.pt.
The last line can be given to compact as it is.

MAP is a map that is not compacted yet. With --table, the counts come from a
table instead: a header line with the columns Depth and MeanChld, or Depth,
Parents and Children, and a row for each depth (H1, H2 ... P0, P1 ...).`,
  options: {
    table: { type: "string", value: "FILE", help: "Fit the numbers of a depth table." },
  },
  examples: [
    { line: "mementomap fit map.ukvs", does: "the parameters of this archive" },
    { line: "mementomap fit --json map.ukvs", does: "the same, for scripts" },
  ],
  async run({ positionals, values }, io) {
    if (positionals.length > 1 || (positionals.length === 1 && values.table !== undefined)) {
      throw new MementoMapError("MM_USAGE", "fit takes one map, or --table");
    }
    const table =
      values.table === undefined
        ? await countDepths(positionals[0] ?? "-", io)
        : await readTable(values.table);
    const result = fitChildren(table);
    await writeText(io.stdout, values.json ? jsonReport(table, result) : report(table, result));
    return ExitCode.ok;
  },
});

async function countDepths(path: string, io: Io): Promise<DepthChildren[]> {
  const input = await openInput(path, io, { signal: io.interrupt.signal });
  const { batches } = await readUkvs(input.chunks, { source: input.name }).then((reader) => ({
    batches: reader.batches(),
  }));
  const counter = new DepthCounter();
  for await (const batch of batches) {
    for (let i = 0; i < batch.count; i++) {
      counter.add(batch.bytes, batch.keyStarts[i], batch.keyEnds[i]);
    }
  }
  return counter.table();
}

async function readTable(path: string): Promise<DepthChildren[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw ioError(error, path);
  });
  return parseDepthTable(text, path);
}

function jsonReport(table: readonly DepthChildren[], result: ChildrenFit): string {
  return `${JSON.stringify({ depths: table, host: result.hostPower, path: result.pathPower })}\n`;
}

function report(table: readonly DepthChildren[], { hostPower, pathPower }: ChildrenFit): string {
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
    "",
    ...(flags.length === 0 ? [] : [`mementomap compact ${flags.join(" ")}`]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function power({ a, k }: PowerLawFit): string {
  return `${Number(a.toPrecision(5))},${Number(k.toPrecision(4))}`;
}

function fitLine(layer: string, law: PowerLawFit | undefined): string {
  if (law === undefined) return `${layer}  too few depths for a fit`;
  const [a, k, r2] = [law.a.toPrecision(5), law.k.toPrecision(4), law.r2.toFixed(3)];
  return `${layer}  children = ${a} * depth^-${k}   (R2 ${r2})`;
}
