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

/** What may be said of a format of indexes; {@link FORMATS} says it. */
interface FormatEntry {
  /** How files of it end, which tells what a folder holds; what a file is, its content tells. */
  readonly extension?: string;
  /** Whether a file is of it, by the first row or else by how it begins. */
  readonly is?: (line: string, text: string) => boolean;
  /** Set where it does not list all captures. */
  readonly isSample?: true;
  /** Set where the same capture may be reported more than once. */
  readonly repeats?: true;
  /** Reads its lines. */
  readonly reader?: (format: DetectedFormat) => LineReader;
  /** What has no lines of its own is written as lines (see rows.ts) by this; loaded when it is needed. */
  readonly rows?: () => Promise<RowSource>;
}

/** All formats of indexes: the first that fits a file is its own. */
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
  // Files that are opened by name, as their parts are read here and there.
  zipnum: { extension: "idx" },
  wacz: { extension: "wacz" },
  parquet: { extension: "parquet" },
} as const satisfies Readonly<Record<string, FormatEntry>>;

type FormatName = keyof typeof FORMATS;
const ENTRIES: Readonly<Record<FormatName, FormatEntry>> = FORMATS;

/** The names that `--format` takes. */
export type InputFormat = "auto" | FormatName;
export const INPUT_FORMATS: readonly InputFormat[] = [
  "auto",
  ...(Object.keys(FORMATS) as FormatName[]),
];

/** A detected format, in a form that can be sent to another thread. */
export interface DetectedFormat {
  readonly name: FormatName;
  /** Of CDX. */
  readonly columns?: CdxColumns | undefined;
  /** Set where the input does not list all captures. */
  readonly isSample?: boolean | undefined;
  /** Set where the same capture may be reported more than once. */
  readonly repeats?: boolean | undefined;
}

/** The format of this name, with what is true of all files of it. */
export function formatNamed(name: FormatName): DetectedFormat {
  const { isSample, repeats } = ENTRIES[name];
  return { name, ...(isSample && { isSample }), ...(repeats && { repeats }) };
}

/** The first format that fits a file which begins with `text`, and whose first row is `line`. */
export function formatOf(line: string, text: string): FormatName | undefined {
  return (Object.keys(FORMATS) as FormatName[]).find((name) => ENTRIES[name].is?.(line, text));
}

/** What writes the captures of a format as lines; undefined where it has lines of its own. */
export function rowSource({ name }: DetectedFormat): Promise<RowSource> | undefined {
  return ENTRIES[name].rows?.();
}

/** Whether an input of a format has lines of its own. */
export function hasLines({ name }: DetectedFormat): boolean {
  return ENTRIES[name].reader !== undefined;
}

/** Whether an input is a file of records, and not an index of them. */
export function holdsRecords({ format }: { readonly format: DetectedFormat }): boolean {
  return format.name === "warc" || format.name === "arc";
}

/** A reader for the lines of a format, its own or those that it is written as. */
export function lineReader(format: DetectedFormat): LineReader {
  return ENTRIES[format.name].reader?.(format) ?? new RowLineReader();
}
