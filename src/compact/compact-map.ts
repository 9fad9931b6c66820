import { BANG, AT, CR, LF } from "../bytes/ascii.ts";
import { MAX_LINE_BYTES, wholeLines } from "../bytes/whole-lines.ts";
import type { Header } from "../ukvs/header.ts";
import { formatHeaders, parseHeader, UkvsHeaders } from "../ukvs/header.ts";
import { isMementoMapError } from "../errors.ts";
import { Compactor } from "./compactor.ts";
import { MapLines } from "./map-lines.ts";
import type { SpillStore } from "./pending-text.ts";
import type { WeightOptions } from "./weight-policy.ts";
import { WeightPolicy } from "./weight-policy.ts";

export interface CompactMapOptions extends WeightOptions {
  /** Named in errors. */
  readonly source?: string | undefined;
  /** Takes undecided output that does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** How much undecided output to hold where there is a spill store; 16 MiB by default. */
  readonly memoryBytes?: number | undefined;
  /** Told about the run when it has ended. */
  readonly onEnd?: ((summary: CompactSummary) => void) | undefined;
}

export interface CompactSummary {
  readonly rowsRead: number;
  readonly rollUps: number;
}

/**
 * Makes a map smaller by rolling up sub-trees with many children: the paper's policy.
 *
 * Needs a map sorted by bytes, reads it once, and gives the smaller map out as it goes. Holds the
 * open nodes of the key tree and what is not decided yet. Every URI present in the map is present
 * in the result.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place
 */
export async function* compactMap(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CompactMapOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = options.source ?? "map";
  const policy = new WeightPolicy(options);
  const written: Uint8Array[] = [];
  const head: HeadLines = { headers: [], lines: 0 };
  let lines: MapLines | undefined;
  let compactor: Compactor | undefined;
  const begin = (): MapLines => {
    const all = new UkvsHeaders(head.headers);
    written.push(headerText(all));
    compactor = new Compactor(policy, (bytes) => void written.push(bytes.slice()), {
      keyColumns: all.fields.keys.length,
      spill: options.spill,
      memoryBytes: options.memoryBytes,
    });
    return new MapLines(compactor, all.fields);
  };
  const linesRead = (): number => head.lines + (lines?.lines ?? 0);
  for await (const chunk of wholeLines(chunks, source, MAX_LINE_BYTES, linesRead)) {
    let start = 0;
    if (lines === undefined) {
      start = readHeaders(chunk, head, source);
      if (start === chunk.length) continue;
      lines = begin();
    }
    lines.read(chunk, start, chunk.length, { source, firstLine: head.lines + 1 });
    yield* written.splice(0);
  }
  lines ??= begin();
  compactor?.end();
  yield* written.splice(0);
  options.onEnd?.({ rowsRead: lines.rows, rollUps: compactor?.rollUps ?? 0 });
}

/** Header lines in strict JSON and byte order, each with its end. */
export function headerText(headers: UkvsHeaders): Uint8Array {
  const text = formatHeaders(headers)
    .map((line) => `${line}\n`)
    .join("");
  return new TextEncoder().encode(text);
}

/** The first lines of a map: its headers, with blank lines between them or not. */
export interface HeadLines {
  readonly headers: Header[];
  lines: number;
}

/** Reads header lines and blank ones into `head`; returns where the first other line begins. */
export function readHeaders(chunk: Uint8Array, head: HeadLines, source: string): number {
  let at = 0;
  while (at < chunk.length && startsHeadLine(chunk[at])) {
    const lineEnd = chunk.indexOf(LF, at);
    const end = lineEnd === -1 ? chunk.length : lineEnd;
    head.lines++;
    try {
      const text = new TextDecoder().decode(chunk.subarray(at, end)).trimEnd();
      if (text !== "") head.headers.push(parseHeader(text));
    } catch (error) {
      const position = { source, line: head.lines };
      throw isMementoMapError(error) ? error.at(position) : error;
    }
    at = lineEnd === -1 ? chunk.length : lineEnd + 1;
  }
  return at;
}

function startsHeadLine(byte: number): boolean {
  return byte === BANG || byte === AT || byte === LF || byte === CR;
}
