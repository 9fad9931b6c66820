import { fitQuality, MIN_FIT_POINTS } from "../../format.ts";
import { withOutput } from "../../files/output-file.ts";
import { column, table } from "../../study/report/report.ts";
import { tableLines } from "../../study/report/text.ts";
import { BudgetCompaction } from "../../compact/budget-compaction.ts";
import {
  type ChildrenFit,
  type DepthChildren,
  DepthCounter,
  fitChildren,
  type PowerLawFit,
} from "../../compact/children-fit.ts";
import { fileChunks } from "../../files/input-file.ts";
import { withMapSources } from "../../lookup/map-sources.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import { inputsOf, misuse } from "../common/options.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { type Io, writeLines } from "../common/io.ts";
import { assertMaps } from "../common/map-arguments.ts";

export const command: Command = defineCommand({
  name: "fit",
  usage: "[MAP]",
  description: `
Counts the average number of children of a node at every depth of hosts and
paths, and fits a power law, A * depth^-K, as the paper did for Arquivo.pt. The
last line of the output is a command that compacts the map with the laws that
fit well enough.

It also fits Heaps' law, which compact uses to reach a given size: the growth of
a host's children with its keys.

MAP must not be compacted yet.`,
  options: {
    output: { short: "o", value: "FILE", help: "Write the tables here." },
  },
  examples: {
    "the parameters of an archive": "mementomap fit map.ukvs",
    "the same, for scripts": "mementomap fit --json map.ukvs",
  },
  files({ positionals, values: { output } }) {
    const maps = inputsOf(positionals);
    if (maps.length > 1) throw misuse("fit takes one map");
    return { reads: { maps }, writes: [{ path: output, kind: "report" }] };
  },
  async run({ positionals, values }, io) {
    const [path] = inputsOf(positionals);
    await assertMaps(path);
    const { depths, heapsExponent } = await fitMap(path, io);
    const fitted = fitChildren(depths);
    const { hostPower: host, pathPower: paths } = fitted;
    const laws = [
      fitLine("hosts", host),
      fitLine("paths", paths),
      ...(heapsExponent === undefined
        ? []
        : [`heaps  children of a host ~ keys^${heapsExponent.toFixed(3)}`]),
    ];
    const lines = values.json
      ? [JSON.stringify({ depths, host, path: paths, heapsExponent })]
      : [...depthLines(depths), "", ...laws, "", commandFor(path, fitted)];
    await withOutput(values.output, io, (output) => writeLines(output, lines));
    return {};
  },
});

/** Reads a map twice; a stream is copied to a scratch file first. */
function fitMap(
  path: string,
  io: Io,
): Promise<{ depths: DepthChildren[]; heapsExponent: number | undefined }> {
  return withMapSources([path], { io }, async ([source]) => {
    const read = (): AsyncIterable<Uint8Array> => fileChunks(source, io.interrupt.signal);
    const reader = await readUkvs(read(), { source: source.name });
    const counter = new DepthCounter();
    for await (const { bytes, count, keyStarts, keyEnds } of reader.batches()) {
      for (let i = 0; i < count; i++) counter.add(bytes, keyStarts[i], keyEnds[i]);
    }
    const depths = counter.table();
    // Maps with several key columns cannot be compacted to a size.
    if (reader.headers.fields.keys.length > 1) return { depths, heapsExponent: undefined };
    const { prior } = await BudgetCompaction.survey(read, { source: source.name });
    return { depths, heapsExponent: prior.heapsExponent };
  });
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
  return tableLines(table("depths", "Children by depth", rows, columns)).flat();
}

/** A useful law explains at least this share of the variance of its points. */
const MIN_R2 = 0.5;

/** Whether `compact` can use a law: deeper nodes must have fewer children. */
function isUseful(law: PowerLawFit | undefined): law is PowerLawFit {
  return law !== undefined && law.points >= MIN_FIT_POINTS && law.r2 >= MIN_R2 && law.k >= 0;
}

/** The command that compacts a map with the useful ones of the fitted laws. */
function commandFor(path: string, { hostPower, pathPower }: ChildrenFit): string {
  const options = [
    ...(isUseful(hostPower) ? [`--host-power ${power(hostPower)}`] : []),
    ...(isUseful(pathPower) ? [`--path-power ${power(pathPower)}`] : []),
  ];
  if (options.length === 0) return "No law fits well enough: compact with the defaults.";
  const map = path === "-" ? "map.ukvs" : shellWord(path);
  return `mementomap compact ${options.join(" ")} ${map} -o small.ukvs`;
}

/** Quotes a word for a shell if necessary. */
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
