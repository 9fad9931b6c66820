import { stat } from "node:fs/promises";
import { isLearnt, isPacked, isRun, looksLikeHtml } from "../bytes/bytes.ts";
import { isMementoMapError } from "../errors.ts";
import { decompressedHead, wholeLinesOf } from "../input/file-inputs.ts";
import { formatOf } from "../input/formats.ts";
import { beginsWithLookup, foreignKind } from "../input/line-kind.ts";
import { mapHeadOf } from "../ukvs/head.ts";
import { rowLayout } from "../ukvs/row.ts";
import { sniff } from "../ukvs/sniff.ts";

/** Kinds of files, recognized by their first bytes, as worded in messages. */
export const KIND_NAMES = {
  empty: "an empty file",
  map: "a map",
  packed: "a packed map",
  run: "a sorted run of keys",
  learnt: "the learned state of an aggregator",
  page: "an HTML page",
  index: "an index",
  archive: "an archive file",
  log: "a log",
  answers: "lookup results",
  list: "a list of URIs",
  json: "JSON",
  text: "a text file",
  binary: "binary data",
};
export type FileKind = keyof typeof KIND_NAMES;

/** Kinds of the input formats that are not lists. */
const KIND_OF_FORMAT: Readonly<Record<string, FileKind>> = {
  warc: "archive",
  arc: "archive",
  cdxj: "index",
  cdx: "index",
  "memgator-log": "log",
  log: "log",
};

/**
 * Detects the kind of a file from its first bytes, decompressing them if needed.
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
  if (isPacked(head)) return "packed";
  if (isRun(head)) return "run";
  if (isLearnt(head)) return "learnt";
  const text = new TextDecoder().decode(head);
  if (text.startsWith("PAR1")) return "archive";
  if (looksLikeHtml(text)) return "page";
  const [line = ""] = text.split(/\r?\n/, 1);
  // ZIP contains control characters, like other binary data.
  if (foreignKind(line) === "binary data") return "binary";
  if (/^[!@]/.test(line)) return isMap(head, path) ? "map" : "index";
  if (/\t(?:present|absent)\t/.test(line)) return "answers";
  const format = KIND_OF_FORMAT[formatOf(line, text) ?? ""];
  if (format !== undefined) return format;
  if (/^\s*[[{]/.test(line)) return "json";
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

/** Whether a file is a map by its first bytes; packed maps and empty files count. @throws MM_IO */
export async function isMapFile(path: string): Promise<boolean> {
  const kind = await fileKind(path);
  return kind === "map" || kind === "packed" || kind === "empty";
}

/** Whether a path is a regular file with a map that has a record among its first lines. */
export async function mapRecordsIn(path: string): Promise<boolean> {
  try {
    if ((await stat(path).catch(() => undefined))?.isFile() !== true) return false;
    const lines = wholeLinesOf(await decompressedHead(path));
    return mapHeadOf(lines, path).recordsOffset < lines.length;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}
