import { AccessLogReader, SurtListReader, UriListReader } from "./line-formats.ts";
import type { LineReader } from "./capture.ts";
import { type CdxColumns, CdxReader, guessCdxColumns, parseCdxHeader } from "./cdx.ts";
import { CdxjReader } from "./cdxj.ts";
import { RowLineReader, type RowSource } from "./rows.ts";
import {
  ACCESS_LOG_LINE,
  CDXJ_LINE,
  JSON_ROWS,
  looksLikeArc,
  MEMGATOR_LINE,
  startOf,
} from "./line-kind.ts";

/** An entry of {@link FORMATS}. */
interface FormatEntry {
  /** File extension, used to find files in folders; the format of a file is detected by content. */
  readonly extension?: string;
  /** Matches a file by its first row or by its first bytes. */
  readonly is?: (line: string, text: string) => boolean;
  /** Set if the format does not list all captures. */
  readonly isSample?: true;
  /** Set if the same capture may be reported more than once. */
  readonly repeats?: true;
  /** Parses its lines. */
  readonly reader?: (format: DetectedFormat) => LineReader;
  /** Converts a format that is not line-based to lines (see rows.ts); loaded on demand. */
  readonly rows?: () => Promise<RowSource>;
}

/** All index formats, in order of detection: the first match wins. */
const FORMATS = {
  warc: {
    extension: "warc",
    is: (_line, text) => /^WARC\/\d/.test(text),
    rows: async () => (await import("./warc.ts")).warcRows,
  },
  arc: {
    extension: "arc",
    is: (_line, text) => looksLikeArc(text),
    rows: async () => (await import("./warc.ts")).arcRows,
  },
  cdxj: { extension: "cdxj", is: (line) => CDXJ_LINE.test(line), reader: () => new CdxjReader() },
  cdx: {
    extension: "cdx",
    is: (line) =>
      !JSON_ROWS.test(line) && (parseCdxHeader(line) ?? guessCdxColumns(line)) !== undefined,
    reader: ({ columns }) => new CdxReader(columns as CdxColumns), // set by detectFormat
  },
  timemap: {
    is: (line, text) =>
      /^(?:\d{14} \{|\s*<[^>\s]*>\s*;)/.test(line) ||
      (/^\s*\{/.test(line) && text.includes('"original_uri"')),
    isSample: true,
    repeats: true,
    rows: async () => (await import("./timemap-rows.ts")).timeMapRows,
  },
  "memgator-log": {
    is: (line) => MEMGATOR_LINE.test(line),
    isSample: true,
    rows: async () => (await import("./memgator-holdings.ts")).memgatorHoldings,
  },
  log: {
    is: (line) => ACCESS_LOG_LINE.test(startOf(line)),
    isSample: true,
    repeats: true,
    reader: () => new AccessLogReader(),
  },
  json: {
    is: (line) => /^\s*[[{]/.test(line),
    rows: async () => (await import("./cdx-json.ts")).cdxJsonRows,
  },
  surts: {
    is: (line) =>
      /^[a-z][a-z0-9+.-]*:\/\/\([^)][^),]*,[^)]*\)/i.test(startOf(line)) ||
      /^[^\s/?)]*[^\s/?),],?\)(?:[/?]\S*)?(?:\s|$)/.test(startOf(line)),
    reader: () => new SurtListReader(),
  },
  urls: {
    is: (line) =>
      /^[a-z][a-z0-9+.-]*:\/\//i.test(line) ||
      /^\s*[\w-]+(\.[\w-]+)+(:\d+)?([/?#]\S*)?\s*$/.test(startOf(line)),
    reader: () => new UriListReader(),
  },
  // Opened by path, because they need random access.
  zipnum: { extension: "idx" },
  wacz: { extension: "wacz" },
  parquet: { extension: "parquet" },
} as const satisfies Readonly<Record<string, FormatEntry>>;

type FormatName = keyof typeof FORMATS;
const ENTRIES: Readonly<Record<FormatName, FormatEntry>> = FORMATS;

/** Values of `--format`. */
export type InputFormat = "auto" | FormatName;
export const INPUT_FORMATS: readonly InputFormat[] = [
  "auto",
  ...(Object.keys(FORMATS) as FormatName[]),
];

/** A detected format, in a form that can be sent to another thread. */
export interface DetectedFormat {
  readonly name: FormatName;
  /** Only for CDX. */
  readonly columns?: CdxColumns | undefined;
  /** Set if the input does not list all captures. */
  readonly isSample?: boolean | undefined;
  /** Set if the same capture may be reported more than once. */
  readonly repeats?: boolean | undefined;
}

/** The format of this name, with its fixed properties. */
export function formatNamed(name: FormatName): DetectedFormat {
  const { isSample, repeats } = ENTRIES[name];
  return { name, ...(isSample && { isSample }), ...(repeats && { repeats }) };
}

/** The first format that matches a file with the first bytes `text` and the first row `line`. */
export function formatOf(line: string, text: string): FormatName | undefined {
  return (Object.keys(FORMATS) as FormatName[]).find((name) => ENTRIES[name].is?.(line, text));
}

/** The converter of a format to lines; undefined for line-based formats. */
export function rowSource({ name }: DetectedFormat): Promise<RowSource> | undefined {
  return ENTRIES[name].rows?.();
}

/** Whether a format is line-based. */
export function hasLines({ name }: DetectedFormat): boolean {
  return ENTRIES[name].reader !== undefined;
}

/** Whether an input is a file of records rather than an index. */
export function holdsRecords({ format }: { readonly format: DetectedFormat }): boolean {
  return format.name === "warc" || format.name === "arc";
}

/** A reader for the lines of a format, its own or converted ones. */
export function lineReader(format: DetectedFormat): LineReader {
  return ENTRIES[format.name].reader?.(format) ?? new RowLineReader();
}
