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

/** A Parquet index that is open. */
interface ParquetFile {
  readonly path: string;
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: Columns;
}

/**
 * Opens a Parquet file and finds its columns.
 *
 * @throws MM_USAGE where `hyparquet` is not installed, MM_BAD_INPUT where there is no column of
 * URIs or SURTs, MM_IO.
 */
export async function openParquet(path: string): Promise<ParquetFile> {
  const { asyncBufferFromFile } = await loadHyparquet();
  const buffer = await withFaultsOf(path, async () => {
    await stat(path);
    return asyncBufferFromFile(path);
  });
  return readFooter(buffer, path);
}

/** As {@link openParquet}, of a file that is open or in memory. */
export async function readFooter(buffer: AsyncBuffer, path: string): Promise<ParquetFile> {
  const { parquetMetadataAsync } = await loadHyparquet();
  const metadata = await withFaultsOf(path, () => parquetMetadataAsync(buffer));
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
    // Each awaited on its own within the `try`: so bundlers know that it may be missing.
    const hyparquet = await import("hyparquet");
    const compressors = await import("hyparquet-compressors");
    return { ...hyparquet, ...compressors };
  } catch (cause) {
    throw new MementoMapError(
      "MM_USAGE",
      "reading Parquet needs two packages more: npm install hyparquet hyparquet-compressors",
      { cause },
    );
  }
}

/**
 * The ranges of rows that are stored together.
 *
 * @throws MM_BAD_INPUT when the footer gives a number of rows that cannot be.
 */
export function rowGroups(file: ParquetFile): { rowStart: number; rowEnd: number }[] {
  let rowEnd = 0;
  return file.metadata.row_groups.map((group) => {
    const rowStart = rowEnd;
    rowEnd += Number(group.num_rows);
    if (!Number.isSafeInteger(rowEnd) || rowEnd < rowStart) {
      throw unsound(file.path, new Error(`a group of ${String(group.num_rows)} rows`));
    }
    return { rowStart, rowEnd };
  });
}

/** The captures of a range of rows, which should be a row group, as blocks of lines. Holds its columns. */
export async function* parquetBlocks(
  { path, buffer: file, metadata, columns }: ParquetFile,
  rowStart: number,
  rowEnd: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { parquetReadObjects, compressors } = await loadHyparquet();
  const names = Object.values(columns);
  const options = { file, metadata, compressors, columns: names, rowStart, rowEnd };
  const rows = await withFaultsOf(path, () => parquetReadObjects(options));
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

/** Does something with a file; what the library throws becomes MM_BAD_INPUT, and faults of the system MM_IO. */
async function withFaultsOf<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof Error && !("code" in error)
      ? unsound(path, error)
      : ioError(error, path);
  }
}

function unsound(path: string, error: Error): MementoMapError {
  return badInput(path, `not a sound Parquet file (${error.message})`, error);
}
