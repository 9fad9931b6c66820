import { stat } from "node:fs/promises";
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import { formatNamed } from "./formats.ts";
import type { IndexInput, Part } from "./index-input.ts";
import { type CaptureText, MEMBER_NAMES, rowBlocks, rowLine } from "./rows.ts";
import { badInput, ioError, MementoMapError } from "../errors.ts";

/** Opens a Parquet index, such as Common Crawl's; row groups are read in parallel. */
export async function openParquetInput(path: string, size: number): Promise<IndexInput> {
  const groups = rowGroups(await openParquet(path));
  const format = formatNamed("parquet");
  const bytes = Math.floor(size / groups.length);
  const parts = groups.map((group): Part => ({
    source: path,
    bytes,
    task: { kind: "parquet", path, format, ...group },
  }));
  return { source: path, size, isInflated: true, format, parts: () => parts };
}

type Columns = Partial<Record<keyof CaptureText, string>>;

/** An open Parquet index. */
interface ParquetFile {
  readonly path: string;
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: Columns;
}

/**
 * Opens a Parquet file and finds its columns.
 *
 * @throws MM_USAGE if `hyparquet` is not installed, MM_BAD_INPUT if there is no column of URIs or
 * SURTs, MM_IO.
 */
export async function openParquet(path: string): Promise<ParquetFile> {
  const { asyncBufferFromFile } = await loadHyparquet();
  const buffer = await withErrorsOf(path, async () => {
    await stat(path);
    return asyncBufferFromFile(path);
  });
  return readFooter(buffer, path);
}

/** As {@link openParquet}, for a file that is open or in memory. */
export async function readFooter(buffer: AsyncBuffer, path: string): Promise<ParquetFile> {
  const { parquetMetadataAsync } = await loadHyparquet();
  const metadata = await withErrorsOf(path, () => parquetMetadataAsync(buffer));
  const names = metadata.schema.slice(1).map((element) => element.name);
  const columns: Columns = {};
  for (const field of Object.keys(MEMBER_NAMES) as (keyof CaptureText)[]) {
    const name = MEMBER_NAMES[field].find((known) => names.includes(known));
    if (name !== undefined) columns[field] = name;
  }
  if (columns.uri === undefined && columns.key === undefined) {
    const found = names.slice(0, 20).join(", ");
    throw badInput(path, `no column of URIs or SURTs: expected url or url_surtkey, found ${found}`);
  }
  return { path, buffer, metadata, columns };
}

/** @throws MM_USAGE */
async function loadHyparquet(): Promise<
  typeof import("hyparquet") & typeof import("hyparquet-compressors")
> {
  try {
    // Awaited separately within the `try`, so that bundlers treat each as optional.
    const hyparquet = await import("hyparquet");
    const compressors = await import("hyparquet-compressors");
    return { ...hyparquet, ...compressors };
  } catch (cause) {
    throw new MementoMapError(
      "MM_USAGE",
      "reading Parquet requires two optional packages: npm install hyparquet hyparquet-compressors",
      { cause },
    );
  }
}

/**
 * The row ranges of the row groups.
 *
 * @throws MM_BAD_INPUT when the footer has an impossible number of rows.
 */
export function rowGroups(file: ParquetFile): { rowStart: number; rowEnd: number }[] {
  let rowEnd = 0;
  return file.metadata.row_groups.map((group) => {
    const rowStart = rowEnd;
    rowEnd += Number(group.num_rows);
    if (!Number.isSafeInteger(rowEnd) || rowEnd < rowStart) {
      throw invalidFile(file.path, new Error(`a group of ${String(group.num_rows)} rows`));
    }
    return { rowStart, rowEnd };
  });
}

/** The captures of a row range, normally a row group, as blocks of lines. Holds its columns. */
export async function* parquetBlocks(
  { path, buffer: file, metadata, columns }: ParquetFile,
  rowStart: number,
  rowEnd: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { parquetReadObjects, compressors } = await loadHyparquet();
  const names = Object.values(columns);
  const options = { file, metadata, compressors, columns: names, rowStart, rowEnd };
  const rows = await withErrorsOf(path, () => parquetReadObjects(options));
  yield* rowBlocks(rows.map((row) => rowLine(captureOf(row, columns))));
}

function captureOf(row: Readonly<Record<string, unknown>>, columns: Columns): CaptureText {
  const text = (field: keyof CaptureText): string | undefined => {
    const name = columns[field];
    return name === undefined ? undefined : textOf(row[name]);
  };
  return {
    key: text("key") ?? "",
    uri: text("uri"),
    date: text("date"),
    mime: text("mime") ?? "",
    status: text("status") ?? "",
  };
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString().replaceAll(/\D/g, "").slice(0, 14);
  return typeof value === "number" || typeof value === "bigint" ? String(value) : "";
}

/** Maps errors of the library to MM_BAD_INPUT, and system errors to MM_IO. */
async function withErrorsOf<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof Error && !("code" in error)
      ? invalidFile(path, error)
      : ioError(error, path);
  }
}

function invalidFile(path: string, error: Error): MementoMapError {
  return badInput(path, `invalid Parquet file (${error.message})`, error);
}
