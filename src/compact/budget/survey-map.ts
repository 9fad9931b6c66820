import { formatHeaders } from "../../ukvs/header.ts";
import { MapLines } from "../map-lines.ts";
import type { SpillStore } from "../pending-text.ts";
import type { BudgetKernels } from "./kernels.ts";
import type { MissList } from "./miss-list.ts";
import { NodeTable } from "./node-table.ts";
import { hasPlainFields, rowBlocks } from "./row-blocks.ts";
import type { Survey } from "./survey.ts";

/** Reads the same map again at every call. */
export type ReadMap = () => AsyncIterable<Uint8Array>;

export interface SurveyMapOptions {
  /** Named in errors. */
  readonly source: string;
  readonly misses?: MissList | undefined;
  readonly spill?: SpillStore | undefined;
  readonly kernels?: BudgetKernels | undefined;
}

export interface MapSurvey {
  readonly survey: Survey;
  /** Lines of a map made of it that are headers. */
  readonly headerLines: number;
}

/**
 * Surveys a map sorted by bytes. Reads it once, or from the start again if a kernel gives up.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
 * MM_BAD_INPUT for a map with more key columns than the SURT
 */
export async function surveyMap(read: ReadMap, options: SurveyMapOptions): Promise<MapSurvey> {
  return (await surveyPlainRows(read, options)) ?? (await surveyAnyRows(read, options));
}

async function surveyPlainRows(
  read: ReadMap,
  { source, misses, spill, kernels }: SurveyMapOptions,
): Promise<MapSurvey | undefined> {
  const kernel = kernels?.survey(new NodeTable(spill), misses);
  if (kernel === undefined) return undefined;
  let headerLines = 0;
  for await (const { headers, bytes, isFirst } of rowBlocks(read(), source)) {
    if (isFirst) {
      if (!hasPlainFields(headers.fields)) return undefined;
      headerLines = formatHeaders(headers).length;
    }
    if (!kernel.take(bytes)) return undefined;
  }
  return kernel.finish() ? { survey: kernel.survey(), headerLines } : undefined;
}

async function surveyAnyRows(
  read: ReadMap,
  { source, misses, spill }: SurveyMapOptions,
): Promise<MapSurvey> {
  // Loaded only where no kernel does the work: with it comes the list of public suffixes.
  const { TreeSurvey } = await import("./tree-survey.ts");
  const survey = new TreeSurvey({ misses, spill });
  let lines: MapLines | undefined;
  let headerLines = 0;
  for await (const { headers, headLines, bytes } of rowBlocks(read(), source)) {
    if (lines === undefined) {
      lines = new MapLines(survey, headers.fields);
      headerLines = formatHeaders(headers).length;
    }
    lines.read(bytes, 0, bytes.length, { source, firstLine: headLines + 1 });
  }
  survey.end();
  return { survey, headerLines };
}
