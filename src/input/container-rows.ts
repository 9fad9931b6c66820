import { withoutMark } from "../bytes/peek.ts";
import { arcRows, warcRows } from "./warc.ts";
import { cdxJsonRows } from "./cdx-json.ts";
import { type DamageLog, GAP, MEMBER } from "../bytes/damage.ts";
import type { DetectedFormat } from "./detect.ts";
import { memgatorHoldings } from "./memgator-holdings.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { formatDatetime } from "../memento/datetime.ts";
import { surt } from "../surt/surt.ts";
import { timeMapReader } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { RowLines } from "./cdx.ts";
import { LF } from "../bytes/bytes.ts";
import { wholeLines } from "../bytes/lines.ts";

interface ContainerOptions {
  /** Named in errors. */
  readonly source: string;
  readonly maxLineBytes: number;
  /**
   * Which archive to take from inputs that name several, logs and TimeMaps of aggregators: of the
   * latter, mementos whose address has this in its host or path.
   */
  readonly archive?: string | undefined;
  /** Set to skip what is damaged, and to note it here. */
  readonly damage?: DamageLog | undefined;
}

/**
 * The lines of an input, decompressed: as they are, or made from what a container such as a WARC
 * file holds. Chunks need not end where lines do.
 */
export function containerRows(
  chunks: AsyncIterable<Uint8Array>,
  format: DetectedFormat,
  options: ContainerOptions,
): AsyncIterable<Uint8Array> {
  const { source, damage } = options;
  const { container } = format;
  if (container === "warc") return warcRows(chunks, source, damage);
  if (container === "arc") return arcRows(chunks, source, damage);
  if (damage === undefined) return textRows(chunks, format, options);
  const isOfLines = container === undefined || container === "json-lines";
  const sound = isOfLines ? uncutLines(chunks, options, damage) : unbroken(chunks, source, damage);
  return textRows(sound, format, options);
}

function textRows(
  chunks: AsyncIterable<Uint8Array>,
  { container }: DetectedFormat,
  options: ContainerOptions,
): AsyncIterable<Uint8Array> {
  const text = withoutMark(chunks);
  if (container === "timemap") return timeMapRows(text, options);
  if (container === "memgator-log") return memgatorHoldings(text, options);
  if (container === undefined) return text;
  return cdxJsonRows(text, { ...options, isArray: container === "json-array" });
}

/**
 * Reads TimeMaps, in link format (RFC 7089), JSON or CDXJ as MemGator writes them, as lines of
 * `ROW_LINE_COLUMNS`: one for each memento, with the original URI.
 *
 * Holds all mementos of the TimeMap, because its original may come last.
 *
 * @throws MM_BAD_INPUT where there is no original, or there are two, or something is not a memento;
 *   MM_LIMIT for more than 5 million mementos.
 */
async function* timeMapRows(
  chunks: AsyncIterable<Uint8Array>,
  { source, archive }: ContainerOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { original, otherOriginal, mementos, faults, firstFault } = await readTimeMap(
    chunks,
    source,
  );
  if (faults > 0) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `not a TimeMap: ${quote(firstFault ?? "")} is neither a link, nor a line with a datetime, nor JSON`,
      { position: { source } },
    );
  }
  if (original === undefined) {
    throw new MementoMapError("MM_BAD_INPUT", "the TimeMap does not say which original it is of", {
      position: { source },
    });
  }
  if (otherOriginal !== undefined && surt(otherOriginal) !== surt(original)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `tells of two originals, ${quote(original)} and ${quote(otherOriginal)}; which mementos are ` +
        "whose cannot be told: give each TimeMap as a file of its own",
      { position: { source } },
    );
  }
  const lines = new RowLines();
  for (let i = 0; i < mementos.count; i++) {
    if (archive !== undefined && !mementos.uriAt(i).includes(archive)) continue;
    lines.add({ uri: original, date: formatDatetime(mementos.datetimeAt(i)) });
    if (lines.isFull) yield lines.take();
  }
  if (!lines.isEmpty) yield lines.take();
}

async function readTimeMap(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<TimeMapReading> {
  const reader = timeMapReader();
  try {
    for await (const chunk of chunks) reader.write(chunk);
    return reader.end();
  } catch (error) {
    throw isMementoMapError(error) && error.position === undefined ? error.at({ source }) : error;
  }
}

/**
 * A stream that must be whole, because what it holds makes no sense in part.
 *
 * @throws MM_BAD_INPUT at a gap.
 */
async function* unbroken(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    if (chunk === GAP) {
      const what = damage.first[0]?.message ?? "the compressed data is damaged";
      throw new MementoMapError("MM_BAD_INPUT", `${what}; this format cannot be read in part`, {
        position: { source },
      });
    }
    if (chunk.length > 0) yield chunk;
  }
}

/**
 * The whole lines of a stream with gaps, without what gaps have left of a line: that is counted as
 * cut. Holds one chunk and the longest line.
 *
 * Behind a gap the first line is whole where all members before the gap ended with a line, as in
 * files that are written in blocks of lines; else it is the end of a line that is lost.
 *
 * @throws MM_LIMIT for a line longer than `maxLineBytes`.
 */
async function* uncutLines(
  chunks: AsyncIterable<Uint8Array>,
  { source, maxLineBytes }: ContainerOptions,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stretches = new Stretches(chunks, damage);
  try {
    while (stretches.hasMore) {
      for await (const lines of wholeLines(stretches.next(), source, maxLineBytes)) {
        if (stretches.hasMore && lines.at(-1) !== LF) damage.cutLines++;
        else yield lines;
      }
    }
  } finally {
    await stretches.close();
  }
}

/** The chunks between gaps. */
class Stretches {
  /** Whether a gap, and not the end of the stream, has ended the stretch given last. */
  hasMore = true;
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #damage: DamageLog;
  #areMembersLines = true;
  #lastByte = LF;

  constructor(chunks: AsyncIterable<Uint8Array>, damage: DamageLog) {
    this.#iterator = chunks[Symbol.asyncIterator]();
    this.#damage = damage;
  }

  async *next(): AsyncGenerator<Uint8Array, void, undefined> {
    let isCut = !this.#areMembersLines;
    for (;;) {
      const result = await this.#iterator.next();
      if (result.done === true) {
        this.hasMore = false;
        return;
      }
      const chunk = result.value;
      if (chunk === GAP) {
        this.#lastByte = LF;
        return;
      }
      if (chunk === MEMBER) this.#areMembersLines &&= this.#lastByte === LF;
      if (chunk.length === 0) continue;
      this.#lastByte = chunk[chunk.length - 1];
      const from = isCut ? chunk.indexOf(LF) + 1 : 0;
      if (isCut && from === 0) continue;
      if (isCut) this.#damage.cutLines++;
      isCut = false;
      yield chunk.subarray(from);
    }
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
