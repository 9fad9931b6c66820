import { ROW_LINE_COLUMNS, RowLines } from "./row-lines.ts";
import type { DetectedFormat } from "./detect.ts";
import { trustedFormat } from "./key-check.ts";
import type { Part } from "./tasks.ts";
import { trustIn } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import type { ParquetFile } from "./parquet-file.ts";
import { openParquet, parquetRows, rowGroups } from "./parquet-file.ts";

const SAMPLE_ROWS = 1000;

/** Opens a Parquet index, such as Common Crawl's; row groups are read in parallel. */
export async function openParquetInput(
  path: string,
  size: number,
  options: OpenOptions,
): Promise<IndexInput> {
  const file = await openParquet(path);
  const { date, uri } = file.columns;
  const columns = {
    ...ROW_LINE_COLUMNS,
    ...(date === undefined ? { date: -1 } : {}),
    ...(uri === undefined ? { uri: -1 } : {}),
  };
  const rows = Number(file.metadata.num_rows);
  const sample = new RowLines();
  if (trustIn(path, options) === "auto") {
    for await (const row of parquetRows(file, 0, Math.min(rows, SAMPLE_ROWS))) sample.add(row);
  }
  const format = trustedFormat({ name: "cdx", columns }, sample.take(), trustIn(path, options));
  return {
    source: path,
    size,
    isInflated: true,
    format,
    parts: () => groupParts(file, size, format),
  };
}

async function* groupParts(
  file: ParquetFile,
  size: number,
  format: DetectedFormat,
): AsyncGenerator<Part, void, undefined> {
  const { path } = file;
  const groups = rowGroups(file);
  for (const group of groups) {
    const bytes = Math.floor(size / groups.length);
    yield { source: path, bytes, task: { kind: "parquet", path, format, ...group } };
  }
}
