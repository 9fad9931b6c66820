import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withOutput, withOutputFolder } from "../../files/output-file.ts";
import { packageVersion } from "../../files/package-file.ts";
import type { GuardedOutput } from "../../maps/output-guard.ts";
import type { RunRecord } from "../../study/report/html.ts";
import type { Report } from "../../study/report/report.ts";
import type { OptionTable, OptionValues } from "./command-line.ts";
import { type Io, type NamedFiles, sourceDate } from "./io.ts";
import { FORCE_OPTION, inSection } from "./options.ts";

/** The output options of every study command. */
export const REPORT_OPTIONS = inSection("Output", {
  output: { short: "o", value: "FILE", help: "Write the tables here." },
  html: { value: "FILE", help: "Write the report with charts as one HTML file." },
  csv: { value: "DIR", help: "Write each table as CSV to this new folder." },
  latex: { value: "DIR", help: "Write each table for LaTeX (booktabs) to this new folder." },
  svg: { value: "DIR", help: "Write each chart as SVG to this new folder." },
  force: FORCE_OPTION,
} as const satisfies OptionTable);

type ReportValues = OptionValues<typeof REPORT_OPTIONS> & { readonly json: boolean };

/** The output files of a report, to guard. */
export function reportOutputs({ output, html, csv, latex, svg }: ReportValues): GuardedOutput[] {
  const folders = [csv, latex, svg].filter((path) => path !== undefined);
  return [
    { path: output, kind: "report" },
    ...(html === undefined ? [] : [{ path: html, kind: "page" } as const]),
    ...folders.map((path) => ({ path, kind: "folder" }) as const),
  ];
}

/** The values of a command that writes reports. */
export function reportValues(values: object): ReportValues {
  if ("output" in values && "svg" in values) return values as ReportValues; // the names in REPORT_OPTIONS
  throw new Error("a command that makes a report needs REPORT_OPTIONS");
}

/** The inputs and filters of a run, without unset ones. */
export function runRecord(
  io: Io,
  reads: NamedFiles,
  filters: Readonly<Record<string, unknown>>,
): RunRecord {
  const inputs = Object.entries(reads).map(([name, given]) => [
    name,
    typeof given === "string" ? [given] : (given ?? []),
  ]);
  const given = Object.entries(filters).filter(
    ([, value]) => typeof value === "string" || (Array.isArray(value) && value.length > 0),
  );
  return {
    generator: `mementomap/${packageVersion()}`,
    at: new Date(sourceDate(io) ?? Date.now()).toISOString(),
    inputs: Object.fromEntries(
      inputs.filter(([, paths]) => paths.length > 0),
    ) as RunRecord["inputs"],
    filters: Object.fromEntries(given) as RunRecord["filters"], // checked above
  };
}

/** Writes a report in every requested form. */
export async function writeReport(
  report: Report,
  run: RunRecord,
  { output, html, csv, latex, svg, json }: ReportValues,
  io: Io,
): Promise<void> {
  if (html !== undefined) {
    const { reportHtml } = await import("../../study/report/html.ts");
    const page = Buffer.from(reportHtml(report, run));
    await withOutput(html, io, async (file) => file.write(page));
  }
  if ((csv ?? latex ?? svg) !== undefined) {
    const { csvFiles, latexFiles, svgFiles } = await import("../../study/report/files.ts");
    if (csv !== undefined) await writeFolder(csv, csvFiles(report), io);
    if (latex !== undefined) await writeFolder(latex, latexFiles(report), io);
    if (svg !== undefined) await writeFolder(svg, svgFiles(report), io);
  }
  const text = json ? jsonText(report, run) : await plainText(report);
  await withOutput(output, io, async (file) => file.write(Buffer.from(text)));
}

async function writeFolder(
  path: string,
  files: ReadonlyMap<string, string>,
  io: Io,
): Promise<void> {
  await withOutputFolder(path, io, async (folder) => {
    for (const [name, text] of files) await writeFile(join(folder, name), text);
  });
}

async function plainText(report: Report): Promise<string> {
  const { reportText } = await import("../../study/report/text.ts");
  return reportText(report);
}

/** Omits the time, so that the same input gives the same output. */
function jsonText({ data }: Report, { generator, inputs, filters }: RunRecord): string {
  const run = { generator, inputs, filters };
  const objects: readonly object[] = Array.isArray(data) ? data : [data];
  return objects.map((each) => `${JSON.stringify({ ...each, run })}\n`).join("");
}
