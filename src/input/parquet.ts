import { stat } from "node:fs/promises";
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import { type DetectedFormat, formatNamed } from "./formats.ts";
import type { IndexInput, Part } from "./index-input.ts";
import { type CaptureText, MEMBER_NAMES, rowBlocks, rowLine } from "./rows.ts";
import { badInput, MementoMapError, ioError } from "../errors.ts";

/** Opens a Parquet index, such as Common Crawl's; row groups are read in parallel. */
export async function openParquetInput(path: string, size: number): Promise<IndexInput> {
  const file = await openParquet(path);
  const format = formatNamed("parquet");
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

type Hyparquet = typeof import("hyparquet");
type Compressors = typeof import("hyparquet-compressors").compressors;

type Columns = Partial<Record<keyof CaptureText, string>>;

/** A Parquet index that is open. */
interface ParquetFile {
  readonly path: string;
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: Columns;
  readonly hyparquet: Hyparquet;
  readonly compressors: Compressors;
}

/**
 * Opens a Parquet file and finds its columns.
 *
 * @throws MM_USAGE where `hyparquet` is not installed, MM_BAD_INPUT where there is no column of
 * URIs or SURTs, MM_IO.
 */
export async function openParquet(path: string): Promise<ParquetFile> {
  const { hyparquet } = await loadParquet();
  try {
    await stat(path);
    return await readFooter(await hyparquet.asyncBufferFromFile(path), path);
  } catch (error) {
    throw parquetError(error, path);
  }
}

/** As {@link openParquet}, of a file that is open or in memory. */
export async function readFooter(buffer: AsyncBuffer, path: string): Promise<ParquetFile> {
  const { hyparquet, compressors } = await loadParquet();
  try {
    const metadata = await hyparquet.parquetMetadataAsync(buffer);
    const names = metadata.schema.slice(1).map((element) => element.name);
    const columns: Columns = {};
    for (const field of Object.keys(MEMBER_NAMES) as (keyof CaptureText)[]) {
      const name = MEMBER_NAMES[field].find((known) => names.includes(known));
      if (name !== undefined) columns[field] = name;
    }
    if (columns.uri === undefined && columns.key === undefined) {
      throw badInput(
        path,
        `no column of URIs or SURTs: expected url or url_surtkey, found ${names.slice(0, 20).join(", ")}`,
      );
    }
    return { path, buffer, metadata, columns, hyparquet, compressors };
  } catch (error) {
    throw parquetError(error, path);
  }
}

async function loadParquet(): Promise<{ hyparquet: Hyparquet; compressors: Compressors }> {
  try {
    // Each awaited on its own within the `try`: so bundlers know that it may be missing.
    const hyparquet = await import("hyparquet");
    const { compressors } = await import("hyparquet-compressors");
    return { hyparquet, compressors };
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
      throw parquetError(new Error(`a group of ${String(group.num_rows)} rows`), file.path);
    }
    return { rowStart, rowEnd };
  });
}

/** The captures of a range of rows, which should be a row group, as blocks of lines. Holds its columns. */
export async function* parquetBlocks(
  file: ParquetFile,
  rowStart: number,
  rowEnd: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const rows = await readRows(file, rowStart, rowEnd);
  yield* rowBlocks(rows.map((row) => rowLine(captureOf(row, file.columns))));
}

type ParquetRow = Readonly<Record<string, unknown>>;

async function readRows(
  file: ParquetFile,
  rowStart: number,
  rowEnd: number,
): Promise<readonly ParquetRow[]> {
  const { hyparquet, buffer, metadata, compressors } = file;
  const columns = Object.values(file.columns);
  try {
    return await hyparquet.parquetReadObjects({
      file: buffer,
      metadata,
      compressors,
      columns,
      rowStart,
      rowEnd,
    });
  } catch (error) {
    throw parquetError(error, file.path);
  }
}

function captureOf(row: ParquetRow, columns: Columns): CaptureText {
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

function parquetError(error: unknown, path: string): MementoMapError {
  const known = ioError(error, path);
  if (known !== error && error instanceof Error && !("code" in error)) {
    return badInput(path, `not a sound Parquet file (${error.message})`, error);
  }
  return known;
}
