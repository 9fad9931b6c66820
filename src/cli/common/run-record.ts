import type { CaptureFilter } from "../../input/filter.ts";
import { packageVersion } from "../../files/package-file.ts";
import type { RunRecord } from "../../study/report/page.ts";
import type { Io } from "./io.ts";
import { sourceDate } from "./source-date.ts";

/** What is made now, or at `SOURCE_DATE_EPOCH`, of which files and captures. Files that are not given are left out. */
export function runRecord(
  io: Io,
  inputs: Readonly<Record<string, string | readonly string[] | undefined>>,
  filter: CaptureFilter = {},
  more: Readonly<Record<string, string | undefined>> = {},
): RunRecord {
  return {
    generator: `mementomap/${packageVersion()}`,
    at: new Date(sourceDate(io) ?? Date.now()).toISOString(),
    inputs: Object.fromEntries(
      Object.entries(inputs).flatMap(([name, given]) => {
        const paths = typeof given === "string" ? [given] : (given ?? []);
        return paths.length === 0 ? [] : [[name, paths]];
      }),
    ),
    filters: Object.fromEntries(
      Object.entries({ ...filter, ...more }).flatMap(([name, value]) => {
        const isGiven = typeof value === "string" || (Array.isArray(value) && value.length > 0);
        return isGiven ? [[name, value as string | readonly string[]]] : []; // all others are flags
      }),
    ),
  };
}

/** The record for JSON, without the time: the same input gives the same output. */
export function timelessRecord({ generator, inputs, filters }: RunRecord): Omit<RunRecord, "at"> {
  return { generator, inputs, filters };
}
