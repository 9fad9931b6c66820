import { withoutMark } from "../bytes/peek.ts";
import { type CaptureBatch, CaptureBatches } from "./capture-batch.ts";
import { arcCaptures, warcCaptures } from "./warc.ts";
import { cdxJsonCaptures } from "./cdx-json.ts";
import { type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import type { CapturesFormat, DetectedFormat } from "./detect.ts";
import type { RowFault, RowReader } from "./index-input.ts";
import { memgatorHoldings } from "./memgator-holdings.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { formatDatetime } from "../memento/datetime.ts";
import { surt } from "../surt/uri-to-surt.ts";
import { timeMapReader } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { LF } from "../bytes/bytes.ts";
import { wholeLines } from "../bytes/lines.ts";

interface StreamOptions {
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
 * Hands the rows of a stream, decompressed, to a reader: its lines, or the captures that are in it.
 * Returns the first row that cannot be read, if that is a reason to stop. Holds one chunk and the
 * longest line.
 *
 * @throws MM_LIMIT for a line that is too long, and what reading captures throws.
 */
export async function readStream(
  parts: AsyncIterable<StreamPart>,
  format: DetectedFormat,
  reader: RowReader,
  options: StreamOptions,
): Promise<RowFault | undefined> {
  if (format.name === "captures") {
    for await (const batch of captureBatches(parts, format, options)) {
      const fault = reader.readCaptures(batch);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  const { source, maxLineBytes } = options;
  const linesRead = (): number => reader.partLines;
  for await (const lines of wholeLines(textOf(parts, options), source, maxLineBytes, linesRead)) {
    const fault = reader.readLines(lines, 0, lines.length);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The text of a stream of lines, without what damage has left of a line. */
export function textOf(
  parts: AsyncIterable<StreamPart>,
  options: StreamOptions,
): AsyncIterable<Uint8Array> {
  const { source, damage } = options;
  return withoutMark(
    damage === undefined ? unbroken(parts, source) : uncutLines(parts, options, damage),
  );
}

/** The captures in a stream that has no lines of its own. */
export function captureBatches(
  parts: AsyncIterable<StreamPart>,
  { container }: CapturesFormat,
  options: StreamOptions,
): AsyncIterable<CaptureBatch> {
  const { source, damage } = options;
  if (container === "warc") return warcCaptures(parts, source, damage);
  if (container === "arc") return arcCaptures(parts, source, damage);
  if (container === "json-lines") {
    return cdxJsonCaptures(textOf(parts, options), { ...options, isArray: false });
  }
  const text = withoutMark(unbroken(parts, source));
  if (container === "timemap") return timeMapCaptures(text, options);
  if (container === "memgator-log") return memgatorHoldings(text, options);
  return cdxJsonCaptures(text, { ...options, isArray: true });
}

/**
 * Reads TimeMaps, in link format (RFC 7089), JSON or CDXJ as MemGator writes them: a capture for
 * each memento, with the original URI.
 *
 * Holds all mementos of the TimeMap, because its original may come last.
 *
 * @throws MM_BAD_INPUT where there is no original, or there are two, or something is not a memento;
 *   MM_LIMIT for more than 5 million mementos.
 */
async function* timeMapCaptures(
  chunks: AsyncIterable<Uint8Array>,
  { source, archive }: StreamOptions,
): AsyncGenerator<CaptureBatch, void, undefined> {
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
  const captures = new CaptureBatches();
  for (let i = 0; i < mementos.count; i++) {
    if (archive !== undefined && !mementos.uriAt(i).includes(archive)) continue;
    const date = formatDatetime(mementos.datetimeAt(i));
    captures.add({ uri: original, date, mime: "", status: "" });
    if (captures.isFull) yield captures.take();
  }
  if (!captures.isEmpty) yield captures.take();
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
  parts: AsyncIterable<StreamPart>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of parts) {
    if (isChunk(part)) {
      yield part;
    } else if (part.kind === "gap") {
      const message = `${part.damage.message}; this format cannot be read in part`;
      throw new MementoMapError("MM_BAD_INPUT", message, { position: { source } });
    }
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
  parts: AsyncIterable<StreamPart>,
  { source, maxLineBytes }: StreamOptions,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stretches = new Stretches(parts, damage);
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
  readonly #iterator: AsyncIterator<StreamPart>;
  readonly #damage: DamageLog;
  #areMembersLines = true;
  #lastByte = LF;

  constructor(parts: AsyncIterable<StreamPart>, damage: DamageLog) {
    this.#iterator = parts[Symbol.asyncIterator]();
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
      const part = result.value;
      if (!isChunk(part)) {
        if (part.kind === "member") {
          this.#areMembersLines &&= this.#lastByte === LF;
          continue;
        }
        this.#lastByte = LF;
        return;
      }
      if (part.length === 0) continue;
      this.#lastByte = part[part.length - 1];
      const from = isCut ? part.indexOf(LF) + 1 : 0;
      if (isCut && from === 0) continue;
      if (isCut) this.#damage.cutLines++;
      isCut = false;
      yield part.subarray(from);
    }
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
