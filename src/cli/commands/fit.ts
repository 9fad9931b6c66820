import { fitQuality, MIN_FIT_POINTS } from "../../format.ts";
import { withOutput } from "../../files/output-file.ts";
import { column } from "../../study/report/report.ts";
import { tableLines } from "../../study/report/text.ts";
import { readFile } from "node:fs/promises";
import { BudgetCompaction } from "../../compact/budget-compaction.ts";
import { ioError } from "../../errors.ts";
import {
  type ChildrenFit,
  type DepthChildren,
  DepthCounter,
  fitChildren,
  parseDepthTable,
  type PowerLawFit,
} from "../../compact/children-fit.ts";
import { fileChunks } from "../../files/input-file.ts";
import { withMapSources } from "../../lookup/map-sources.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import { inputsOf, misuse } from "../common/options.ts";
import { type Command, defineCommand } from "../common/command.ts";
import type { Io } from "../common/io.ts";
import { assertMaps } from "../common/map-arguments.ts";

export const command: Command = defineCommand({
  name: "fit",
  usage: "[MAP]",
  description: `
Counts, for every depth of hosts and paths, how many children a node has on
average, and fits a power law, A * depth^-K, as the paper did for Arquivo.pt.
The last line of the output is a command that compacts the map by these laws, as
far as they fit.

It also fits the parameter that compact needs for a given size: Heaps' law, how
the children of a host grow with its keys.

MAP is a map that is not compacted yet. With --table, the counts come from a
table instead: a header line with the columns Depth and MeanChld, or Depth,
Parents and Children, and a row for each depth (H1, H2 ... P0, P1 ...).`,
  options: {
    table: { value: "FILE", help: "Fit the numbers of a depth table." },
    output: { short: "o", value: "FILE", help: "Write the tables here." },
  },
  examples: {
    "the parameters of this archive": "mementomap fit map.ukvs",
    "the same, for scripts": "mementomap fit --json map.ukvs",
  },
  files({ positionals, values: { table, output } }) {
    const maps = table === undefined ? inputsOf(positionals) : positionals;
    if (maps.length + (table === undefined ? 0 : 1) !== 1) {
      throw misuse("fit takes one map, or --table");
    }
    return { reads: { maps, table }, writes: [{ path: output, kind: "report" }] };
  },
  async run({ positionals, values }, io) {
    const [path] = inputsOf(positionals);
    if (values.table === undefined) await assertMaps(path);
    const { table, heapsExponent } =
      values.table === undefined
        ? await fitMap(path, io)
        : { table: await readTable(values.table), heapsExponent: undefined };
    const fitted = fitChildren(table);
    const { hostPower: host, pathPower: paths } = fitted;
    const text = values.json
      ? `${JSON.stringify({ depths: table, host, path: paths, heapsExponent })}\n`
      : [
          ...depthLines(table),
          "",
          fitLine("hosts", host),
          fitLine("paths", paths),
          ...(heapsExponent === undefined
            ? []
            : [`heaps  children of a host ~ keys^${heapsExponent.toFixed(3)}`]),
          "",
          commandFor(values.table === undefined ? path : "-", fitted),
          "",
        ].join("\n");
    await withOutput(values.output, io, async (output) => output.write(Buffer.from(text)));
    return {};
  },
});

/** Reads a map twice; what cannot be read twice goes to a scratch file first. */
function fitMap(
  path: string,
  io: Io,
): Promise<{ table: DepthChildren[]; heapsExponent: number | undefined }> {
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
    if (reader.headers.fields.keys.length > 1) return { table, heapsExponent: undefined };
    const { prior } = await BudgetCompaction.survey(read, { source: source.name });
    return { table, heapsExponent: prior.heapsExponent };
  });
}

async function readTable(path: string): Promise<DepthChildren[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw ioError(error, path);
  });
  return parseDepthTable(text, path);
}

function depthLines(rows: readonly DepthChildren[]): string[] {
  const columns = [
    column.text<DepthChildren>("Depth", ({ depth }) => depth),
    column.count<DepthChildren>("Parents", ({ parents }) => parents),
    column.count<DepthChildren>("Children", ({ children }) => children),
    column.number<DepthChildren>("Mean", ({ parents, children }) =>
      parents === 0 ? null : children / parents,
    ),
  ];
  return tableLines({ id: "depths", title: "Children by depth", columns, rows }).flat();
}

/** A law explains at least half of the variance of its points, of which there are enough. */
const MIN_R2 = 0.5;

/** Whether `compact` can go by a law: nodes have fewer children the deeper they are. */
function isUseful(law: PowerLawFit | undefined): law is PowerLawFit {
  return law !== undefined && law.points >= MIN_FIT_POINTS && law.r2 >= MIN_R2 && law.k >= 0;
}

/** The command that compacts a map by what was fitted, without what compact could not use. */
function commandFor(path: string, { hostPower, pathPower }: ChildrenFit): string {
  const options = [
    ...(isUseful(hostPower) ? [`--host-power ${power(hostPower)}`] : []),
    ...(isUseful(pathPower) ? [`--path-power ${power(pathPower)}`] : []),
  ];
  if (options.length === 0) return "No law fits well enough: compact with the defaults.";
  const map = path === "-" ? "map.ukvs" : shellWord(path);
  return `mementomap compact ${options.join(" ")} ${map} -o small.ukvs`;
}

/** A word that a shell takes as it is. */
function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function power({ a, k }: PowerLawFit): string {
  return `${Number(a.toPrecision(5))},${Number(k.toPrecision(4))}`;
}

function fitLine(layer: string, law: PowerLawFit | undefined): string {
  if (law === undefined) return `${layer}  too few depths for a fit`;
  const [a, k] = [law.a.toPrecision(5), (-law.k).toPrecision(4)];
  const remark = isUseful(law) ? "" : "; compact cannot use it";
  return `${layer}  children = ${a} * depth^${k}   (${fitQuality(law)}${remark})`;
}
