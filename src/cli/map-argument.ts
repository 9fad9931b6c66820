import { stat } from "node:fs/promises";
import { isMementoMapError, MementoMapError, type Position } from "../errors.ts";
import { openInput } from "../node/input-file.ts";
import { parseFrequency } from "../ukvs/frequency.ts";
import { DEFAULT_FIELDS } from "../ukvs/header.ts";
import { parseRecord } from "../ukvs/record.ts";
import type { Io } from "./io.ts";

/** Headers and the first record are within this much of any map. */
const HEAD_BYTES = 1_048_576;

const NAMES_ITS_FIELDS = /^[!@](?:fields|keys)\b/;
const HEADER_OR_BLANK = /^[!@]|^\s*$/;
/** A whole line that is neither. */
const WHOLE_RECORD = /^(?![!@]|[ \t\r]*$).*\n/m;
/** The header line of CDX, or a key and 14 digits of a datetime, which nothing was captured as often as. */
const INDEX_LINE = /^ CDX |^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]/;

/**
 * Refuses files that are no maps: indexes, lists, web pages, anything else that was named by mistake.
 *
 * A lookup searches a file without reading it whole, and would say "absent" of everything; an index
 * even looks like a map whose counts are datetimes. Reads the first lines of each file, and nothing
 * of standard input, pipes and what names its own fields.
 *
 * @throws MM_BAD_INPUT for an index, MM_BAD_LINE and MM_BAD_FREQUENCY for what has no row of a map,
 * MM_IO
 */
export async function refuseOtherThanMaps(paths: readonly string[], io: Io): Promise<void> {
  for (const path of paths) {
    // What is missing or a folder is said best by whoever opens it.
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    if (stats?.isFile() === true) checkHead(await headLines(path, io), path);
  }
}

function checkHead(lines: readonly string[], source: string): void {
  if (lines.some((line) => NAMES_ITS_FIELDS.test(line))) return;
  const first = lines.findIndex((line) => !HEADER_OR_BLANK.test(line));
  if (first === -1) return;
  const line = lines[first];
  const position: Position = { source, line: first + 1 };
  if (INDEX_LINE.test(line)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "this is an index, not a map; make a map of it with mementomap generate",
      { position: { source } },
    );
  }
  try {
    const [frequency] = parseRecord(line, DEFAULT_FIELDS).values;
    if (frequency !== undefined) parseFrequency(frequency);
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}

async function headLines(path: string, io: Io): Promise<string[]> {
  const input = await openInput(path, io);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of input.chunks) {
    text += decoder.decode(chunk, { stream: true });
    if (WHOLE_RECORD.test(text)) break;
    // Whoever reads the file will say that a line is too long.
    if (text.length >= HEAD_BYTES) return [];
  }
  return text.split(/\r?\n/);
}
