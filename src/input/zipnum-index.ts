import { MementoMapError, quote } from "../errors.ts";

/** A gzip member of a ZipNum cluster, as its index describes it. */
export interface ZipNumBlock {
  /** How its first line begins: key and datetime. */
  readonly firstKey: string;
  /** The name of the file it is in; undefined where the index has one file only. */
  readonly part: string | undefined;
  readonly offset: number;
  readonly length: number;
}

/** What a line of the index is, if it is no block. */
const META = /^!meta\s+(?:\d+\s+)?(\{.*\})$/s;

/** `urlkey datetime TAB part TAB offset TAB length [TAB number]`, as pywb and OpenWayback have it. */
const TAB_LINE = /^([^\t]+)\t([^\t]+)\t(\d+)\t(\d+)(?:\t\d+)?$/;
/** `urlkey datetime {"offset": …, "length": …}`, as in WACZ files. */
const JSON_LINE = /^(\S+ \d+) (\{.*\})$/s;

/** Whether a line could be one of a ZipNum index. */
export function looksLikeZipNumIndex(line: string): boolean {
  if (TAB_LINE.test(line)) return true;
  if (META.test(line)) return /"format":\s*"cdxj?-gzip/.test(line);
  const json = JSON_LINE.exec(line)?.[2];
  if (json === undefined || !/"offset":\s*\d+\D/.test(json)) return false;
  // A capture has an offset too, but in a WARC file.
  return !/"(?:url|original|mime|status)|\.w?arc\b/.test(json);
}

/**
 * Reads the lines of a ZipNum index in order; give `defaultPart` of the result to blocks without
 * a part.
 *
 * @throws MM_BAD_LINE for any other line, with its number.
 */
export class ZipNumIndexReader {
  readonly #source: string;
  #line = 0;
  /** The file that a `!meta` line names. */
  defaultPart: string | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  /** The block that a line describes; undefined for headers and blank lines. */
  read(text: string): ZipNumBlock | undefined {
    this.#line++;
    if (text.trim() === "") return undefined;
    const tabs = TAB_LINE.exec(text);
    if (tabs !== null) {
      const [, firstKey = "", part = "", offset, length] = tabs;
      return this.#block(text, firstKey, part, Number(offset), Number(length));
    }
    const meta = META.exec(text)?.[1];
    if (meta !== undefined) {
      const { filename } = this.#json(meta, text);
      if (typeof filename === "string") this.defaultPart = filename;
      return undefined;
    }
    if (text.startsWith("!")) return undefined;
    const [, firstKey, json] = JSON_LINE.exec(text) ?? [];
    if (firstKey === undefined || json === undefined) throw this.#bad(text);
    const { offset, length, filename } = this.#json(json, text);
    const part = typeof filename === "string" ? filename : undefined;
    return this.#block(text, firstKey, part, offset, length);
  }

  #block(
    line: string,
    firstKey: string,
    part: string | undefined,
    offset: unknown,
    length: unknown,
  ): ZipNumBlock {
    if (!isCount(offset) || !isCount(length) || !isCount(offset + length)) throw this.#bad(line);
    return { firstKey, part, offset, length };
  }

  #json(json: string, line: string): Record<string, unknown> {
    try {
      return JSON.parse(json) as Record<string, unknown>; // the pattern has braces around it
    } catch (cause) {
      throw this.#bad(line, cause);
    }
  }

  #bad(text: string, cause?: unknown): MementoMapError {
    return new MementoMapError("MM_BAD_LINE", `not a line of a ZipNum index: ${quote(text)}`, {
      position: { source: this.#source, line: this.#line },
      cause,
    });
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Reads a `.loc` file: `part TAB path [TAB path…]` a line. */
export function parseLocations(text: string): Map<string, string[]> {
  const locations = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [part, ...paths] = line.split("\t");
    if (part !== undefined && paths.length > 0) locations.set(part, paths);
  }
  return locations;
}
