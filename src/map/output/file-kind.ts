import { sniff } from "../../ukvs/sniff.ts";
import { isMementoMapError } from "../../errors.ts";
import { looksLikeHtml } from "../../bytes/bytes.ts";
import {
  ACCESS_LOG_LINE,
  beginsWithLookup,
  CDXJ_LINE,
  foreignKind,
  MEMGATOR_LINE,
} from "../../input/line-kind.ts";
import { mapHeadOf } from "../lookup/map-head.ts";
import { rowLayout } from "../lookup/map-row.ts";
import { decompressedHead, wholeLinesOf } from "../../input/file-inputs.ts";

/** What a file is, by its first bytes. */
export type FileKind =
  | "empty"
  | "map"
  | "page"
  | "index"
  | "archive"
  | "log"
  | "answers"
  | "list"
  | "json"
  | "text"
  | "binary";

/** In words, for messages. */
export const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  empty: "an empty file",
  map: "a map",
  page: "an HTML page",
  index: "an index",
  archive: "an archive file",
  log: "a log",
  answers: "answers to lookups",
  list: "a list of URIs",
  json: "JSON",
  text: "a text",
  binary: "binary data",
};

/** The first bytes of WARC, ARC and Parquet files. ZIP has control characters, as other binary data. */
const ARCHIVE = /^(?:WARC\/\d|filedesc:\/\/|PAR1)/;
const CDX_LINE = /^ ?CDX(?: [A-Za-z])+\s*$|^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]/;

/**
 * Tells by its first bytes what a file is. Decompresses it first, if it is compressed.
 *
 * @throws MM_IO
 */
export async function fileKind(path: string): Promise<FileKind> {
  try {
    return kindOf(await decompressedHead(path), path);
  } catch (error) {
    if (isMementoMapError(error) && error.code !== "MM_IO") return "binary";
    throw error;
  }
}

function kindOf(head: Uint8Array, path: string): FileKind {
  if (head.length === 0) return "empty";
  const text = new TextDecoder().decode(head);
  if (ARCHIVE.test(text)) return "archive";
  if (looksLikeHtml(text)) return "page";
  const [line = ""] = text.split(/\r?\n/, 1);
  if (foreignKind(line) === "binary data") return "binary";
  if (/^[!@]/.test(line)) return isMap(head, path) ? "map" : "index";
  if (MEMGATOR_LINE.test(line) || ACCESS_LOG_LINE.test(line)) return "log";
  if (CDX_LINE.test(line) || CDXJ_LINE.test(line)) return "index";
  if (/^\s*[[{]/.test(line)) return "json";
  if (/\t(?:present|absent)\t/.test(line)) return "answers";
  if (sniff(head) === "map" && isMap(head, path)) return "map";
  return beginsWithLookup(line) ? "list" : "text";
}

function isMap(head: Uint8Array, path: string): boolean {
  try {
    const lines = wholeLinesOf(head);
    const { headers } = mapHeadOf(lines.length === 0 ? head : lines, path);
    rowLayout(headers.fields, path);
    return true;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}

/** Whether a file is a map and has a record among its first lines. */
export async function mapRecordsIn(path: string): Promise<boolean> {
  try {
    const lines = wholeLinesOf(await decompressedHead(path));
    return mapHeadOf(lines, path).recordsOffset < lines.length;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}
