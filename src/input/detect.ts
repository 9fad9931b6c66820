import { MementoMapError, quote } from "../errors.ts";
import type { RowNeeds, RowParser } from "./capture.ts";
import type { CdxColumns } from "./cdx.ts";
import { CdxParser, guessCdxColumns, parseCdxHeader } from "./cdx.ts";
import { CdxjParser } from "./cdxj.ts";
import { SurtListParser, UriListParser } from "./lists.ts";

/** The names that `--format` takes. */
export const INPUT_FORMATS = ["auto", "cdx", "cdxj", "surts", "urls"] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** A format that has been made out, in a form that can be sent to another thread. */
export type DetectedFormat =
  | { readonly name: "cdxj" | "surts" | "urls" }
  | { readonly name: "cdx"; readonly columns: CdxColumns };

/** Lines looked at before a file is given up as unknown. */
const LINES_TO_TRY = 50;

/**
 * Makes out the format of an index from its first bytes, decompressed.
 *
 * An input without any row is an empty list.
 *
 * @throws MM_BAD_INPUT when no format fits, naming the line that fits none.
 */
export function detectFormat(
  head: Uint8Array,
  wanted: InputFormat,
  source: string,
): DetectedFormat {
  const text = new TextDecoder("latin1").decode(head);
  if (looksBinary(text)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "this is binary data, not an index of lines; expected CDX, CDXJ, or a list of SURTs or URIs",
      { position: { source } },
    );
  }
  const lines = text.split(/\r?\n/).slice(0, LINES_TO_TRY);
  const rows = lines.filter((line) => line.trim() !== "" && !/^[!@]/.test(line));
  const [first] = rows;
  if (first === undefined)
    return { name: wanted === "auto" || wanted === "cdx" ? "surts" : wanted };
  if (wanted === "auto") return guess(first, lines.indexOf(first) + 1, source);
  if (wanted !== "cdx") return { name: wanted };
  const columns = parseCdxHeader(first) ?? guessCdxColumns(first);
  if (columns === undefined) throw unknownFormat(first, lines.indexOf(first) + 1, source, "as CDX");
  return { name: "cdx", columns };
}

function guess(line: string, lineNumber: number, source: string): DetectedFormat {
  const header = parseCdxHeader(line);
  if (header !== undefined) return { name: "cdx", columns: header };
  if (/^\S+[ \t]+\d{4,17}[ \t]+\{/.test(line)) return { name: "cdxj" };
  const columns = guessCdxColumns(line);
  if (columns !== undefined) return { name: "cdx", columns };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(line)) return { name: "urls" };
  if (/^[^\s/?)]*[^\s/?),]\)(?:[/?]\S*)?(?:\s|$)/.test(line)) return { name: "surts" };
  if (/^\s*[\w-]+(\.[\w-]+)+(:\d+)?([/?#]\S*)?\s*$/.test(line)) return { name: "urls" };
  throw unknownFormat(line, lineNumber, source, "as any format; --format names one");
}

function unknownFormat(line: string, at: number, source: string, what: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", `cannot read ${quote(line)} ${what}`, {
    position: { source, line: at },
  });
}

/** Text has no NUL, and few other control characters. */
function looksBinary(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  return /[\0-\x08\x0e-\x1a]/.test(text);
}

/** The parser of a detected format. */
export function rowParser(format: DetectedFormat, needs: RowNeeds): RowParser {
  switch (format.name) {
    case "cdx":
      return new CdxParser(format.columns);
    case "cdxj":
      return new CdxjParser(needs);
    case "surts":
      return new SurtListParser();
    case "urls":
      return new UriListParser();
  }
}
