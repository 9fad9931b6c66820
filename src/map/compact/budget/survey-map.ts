import { checkSize, type MapSize, UkvsHeaders } from "../../../ukvs/header.ts";
import { MapLines } from "../map-lines.ts";
import type { SpillStore } from "../../../files/scratch.ts";
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
  readonly headers: UkvsHeaders;
}

/**
 * Surveys a map sorted by bytes. Reads it once, or from the start again if a kernel gives up.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
 * MM_BAD_INPUT for a map with more key columns than the SURT; MM_PAGE, MM_CUT, MM_EMPTY
 */
export async function surveyMap(read: ReadMap, options: SurveyMapOptions): Promise<MapSurvey> {
  const found = (await surveyPlainRows(read, options)) ?? (await surveyAnyRows(read, options));
  checkSize(found.size, { records: found.rows }, options.source);
  return found;
}

/** A survey, the number of rows read for it, and what the map states to hold. */
interface CountedSurvey extends MapSurvey {
  readonly rows: number;
  readonly size: MapSize | undefined;
}

async function surveyPlainRows(
  read: ReadMap,
  { source, misses, spill, kernels }: SurveyMapOptions,
): Promise<CountedSurvey | undefined> {
  const kernel = kernels?.survey(new NodeTable(spill), misses);
  if (kernel === undefined) return undefined;
  let headers = new UkvsHeaders();
  let size: MapSize | undefined;
  for await (const block of rowBlocks(read(), source)) {
    if (block.isFirst) {
      if (!hasPlainFields(block.headers.fields)) return undefined;
      ({ headers, size } = block);
    }
    if (!kernel.take(block.bytes)) return undefined;
  }
  if (!kernel.finish()) return undefined;
  return { survey: kernel.survey(), headers, size, rows: kernel.rows };
}

async function surveyAnyRows(
  read: ReadMap,
  { source, misses, spill }: SurveyMapOptions,
): Promise<CountedSurvey> {
  // Loaded only where no kernel does the work: with it comes the list of public suffixes.
  const { TreeSurvey } = await import("./tree-survey.ts");
  const survey = new TreeSurvey({ misses, spill });
  let lines: MapLines | undefined;
  let headers = new UkvsHeaders();
  let size: MapSize | undefined;
  for await (const block of rowBlocks(read(), source)) {
    if (lines === undefined) {
      ({ headers, size } = block);
      lines = new MapLines(survey, headers.fields);
    }
    const place = { source, firstLine: block.headLines + 1 };
    lines.read(block.bytes, 0, block.bytes.length, place);
  }
  survey.end();
  return { survey, headers, size, rows: lines?.rows ?? 0 };
}
