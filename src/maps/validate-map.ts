import { CR, DELETE, markLength, SPACE, TAB } from "../bytes/bytes.ts";
import { type LineBatch, lineBatches, lineBytes } from "../bytes/lines.ts";
import { isMementoMapError, quote } from "../errors.ts";
import { plainKeyEnd, rowLayout } from "../ukvs/row.ts";
import { pageMark } from "../ukvs/head.ts";
import {
  columnsEnd,
  LastKey,
  parseDatetimeKey,
  parseRecord,
  skipBlanks,
  type UkvsRecord,
} from "../ukvs/record.ts";
import { type Frequency, parseFrequency } from "../ukvs/frequency.ts";
import {
  type Header,
  isJsonObject,
  parseHeader,
  refuseForeignFile,
  sizeFault,
  startsHeader,
  UkvsHeaders,
} from "../ukvs/header.ts";
import { type Fault, fault, type FaultCode, keyFault } from "./map-faults.ts";
import { InclusionCheck } from "./inclusion-check.ts";
import { interruptibleChunks, type SignalOption } from "../interruption.ts";

export interface ValidateOptions extends SignalOption {
  /**
   * Whether to skip warnings, and with them the checks of rows against each other. Many times
   * faster; default false.
   */
  readonly isOnlyErrors?: boolean | undefined;
}

/**
 * Reports the problems of a map, continuing after each.
 *
 * Faults are reported as soon as they are certain: those of a line in line order, those of wildcards
 * and exclusions once all rows concerned are read. CRLF is reported once. Reads its input once; holds
 * one chunk, one line, and a stack as deep as the key.
 *
 * @throws MM_INTERRUPTED, and read errors of the chunks; faults of the map are never thrown.
 */
export async function* validateMap(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: ValidateOptions = {},
): AsyncGenerator<Fault, void, undefined> {
  const validation = new Validation(options.isOnlyErrors ?? false);
  try {
    for await (const batch of lineBatches(interruptibleChunks(chunks, options.signal))) {
      validation.checkBatch(batch);
      yield* validation.take();
      if (validation.isForeign) return;
    }
  } catch (error) {
    if (!isMementoMapError(error) || error.code !== "MM_LIMIT") throw error;
    validation.stop(error.position?.line, error.message);
  }
  validation.finish();
  yield* validation.take();
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = "\uFEFF";

class Validation {
  /** The number of the last line checked. */
  line = 0;
  /** Whether the file is of another kind, which is then its only fault. */
  isForeign = false;
  readonly #isOnlyErrors: boolean;
  readonly #faults: Fault[] = [];
  readonly #list: Header[] = [];
  readonly #firstByName = new Map<string, Header>();
  /** The headers of the list, set when the first record is read. */
  #headers = new UkvsHeaders();
  #isInRecords = false;
  #isFaulty = false;
  /** Whether some lines may not have been read. */
  #isStopped = false;
  #isMap = true;
  /** Whether the columns are a key and a frequency, so that most rows pass a quick check. */
  #hasPlainRows = false;
  #hasCrlf = false;
  #lastKey = new LastKey(1);
  #inclusion: InclusionCheck | undefined;
  /** Bytes of all lines, and those up to the end of the last header. */
  #bytes = 0;
  #headBytes = 0;
  /** The end of the line being checked. */
  #lineEnd = 0;
  #records = 0;

  constructor(isOnlyErrors: boolean) {
    this.#isOnlyErrors = isOnlyErrors;
  }

  checkBatch(batch: LineBatch): void {
    const { bytes, offset, starts, ends, count, firstLine, isTerminated } = batch;
    this.#bytes = offset + bytes.length;
    for (let i = 0; i < count && !this.isForeign; i++) {
      if (this.#hasPlainRows) i = this.#passPlainRows(batch, i);
      if (i === count) break;
      this.line = firstLine + i;
      if (!this.#hasCrlf && bytes[ends[i]] === CR) {
        this.#hasCrlf = true;
        this.#add("crlf", "the line ends in CRLF; lines end in LF (reported once)");
      }
      this.#lineEnd = offset + starts[i] + lineBytes(batch, i);
      this.#checkLine(bytes, starts[i], ends[i]);
    }
    if (!isTerminated && !this.isForeign)
      this.#add("no-final-newline", "the last line does not end in a newline");
  }

  /**
   * Skips rows that pass a quick check, from line `from` of a batch on; returns the first other line,
   * or the number of lines.
   */
  #passPlainRows({ bytes, starts, ends, count, firstLine }: LineBatch, from: number): number {
    let i = from;
    for (; i < count; i++) {
      const start = starts[i];
      const end = plainKeyEnd(bytes, start, ends[i]);
      if (end === -1 || bytes[ends[i]] === CR) break;
      if (this.#lastKey.compareTo(bytes, start, end) >= 0) break;
      this.#lastKey.remember(bytes, start, end);
      this.line = firstLine + i;
      if (this.#inclusion !== undefined) {
        const { mementos } = parseFrequency(decoder.decode(bytes.subarray(end + 1, ends[i])));
        this.#inclusion.add(this.line, bytes, start, end, mementos);
      }
    }
    this.#records += i - from;
    return i;
  }

  /** Stops at an unreadable line. */
  stop(line: number | undefined, message: string): void {
    this.line = line ?? this.line;
    this.#isStopped = true;
    this.#add("line-too-long", message);
  }

  finish(): void {
    if (!this.#isInRecords) {
      this.#headers = new UkvsHeaders(this.#list);
      this.#try("not-a-map", () => rowLayout(this.#headers.fields, ""));
    }
    // The fault of a line may be the reason it did not count as a record.
    if (!this.#isInRecords && !this.#isFaulty) {
      this.line = Math.max(1, this.line);
      const isMeant = this.#headers.size?.records === 0;
      const message = isMeant
        ? 'there are no records; "!size" confirms that nothing is held'
        : 'there are no records and no "!size" of 0: readers reject the map as truncated';
      this.#add("no-records", message);
    }
    this.#checkSize();
    this.#faults.push(...(this.#inclusion?.finish(this.line) ?? []));
  }

  #checkSize(): void {
    const { size } = this.#headers;
    if (size === undefined || this.#isStopped) return;
    const found = { bytes: this.#bytes - this.#headBytes, records: this.#records };
    const wrong = sizeFault(size, found);
    if (wrong !== undefined) this.#add("cut", wrong);
  }

  /** The faults found since the last call. */
  take(): Fault[] {
    this.#faults.push(...(this.#inclusion?.take() ?? []));
    return this.#faults.splice(0);
  }

  #add(code: FaultCode, message: string): void {
    this.#isFaulty = true;
    const found = fault(this.line, code, message);
    if (!this.#isOnlyErrors || found.severity === "error") this.#faults.push(found);
  }

  /** Runs `read`, turning its error into a fault of the map. */
  #try<T>(code: FaultCode, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      this.#add(code, error.message);
      return undefined;
    }
  }

  #checkLine(bytes: Uint8Array, start: number, end: number): void {
    if (skipBlanks(bytes, start, end) === end) {
      this.#add("blank-line", "the line is blank");
      return;
    }
    if (!this.#isInRecords && !startsHeader(bytes[start])) {
      this.#refuseForeign(bytes.subarray(start, end));
      if (this.isForeign) return;
    }
    const text = this.#textOf(bytes, start, end);
    if (text === undefined) return;
    if (!startsHeader(text.charCodeAt(0))) this.#checkRecord(text, bytes, start, end);
    else if (this.#isInRecords)
      this.#add("late-header", `header ${quote(text)} comes after the first record`);
    else this.#checkHeader(text);
  }

  /** Reports a single fault for a file of another kind, instead of one per line. */
  #refuseForeign(firstRow: Uint8Array): void {
    try {
      refuseForeignFile(firstRow, this.#list, "");
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      this.isForeign = true;
      this.#faults.length = 0;
      this.#add("not-a-map", error.message);
    }
  }

  #textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
    for (let at = start; at < end; at++) {
      const byte = bytes[at];
      if ((byte < SPACE && byte !== TAB) || byte === DELETE) {
        this.#add(
          "not-text",
          `the line has a control character, 0x${byte.toString(16).padStart(2, "0")}`,
        );
        return undefined;
      }
    }
    let text: string;
    try {
      text = decoder.decode(bytes.subarray(start, end));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#add("not-text", "the line is not UTF-8");
      return undefined;
    }
    if (this.line > 1 || !text.startsWith(BYTE_ORDER_MARK)) return text;
    this.#add("byte-order-mark", "the map begins with a byte order mark");
    return text.slice(1);
  }

  #checkHeader(text: string): void {
    const header = this.#try("bad-header", () => parseHeader(text));
    if (header === undefined) return;
    // Only headers of the same name must agree, with the first of them: a file may have many headers.
    const first = this.#firstByName.get(header.name);
    const isGood = this.#try(
      "bad-header",
      () => new UkvsHeaders(first === undefined ? [header] : [first, header]),
    );
    if (isGood === undefined) return;
    if (first === undefined) this.#firstByName.set(header.name, header);
    this.#list.push(header);
    this.#headBytes = this.#lineEnd;
  }

  #startRecords(): void {
    this.#isInRecords = true;
    this.#headers = new UkvsHeaders(this.#list);
    const { fields, namesFields } = this.#headers;
    if (!namesFields) {
      this.#add(
        "missing-fields",
        'there is no "!fields" header; keys ["surt"] and values ["frequency"] are assumed',
      );
    }
    this.#isMap = this.#try("not-a-map", () => rowLayout(fields, "")) !== undefined;
    this.#try("bad-header", () => pageMark(this.#headers, ""));
    this.#lastKey = new LastKey(fields.keys.length);
    if (!this.#isMap || fields.keys.length > 1) return;
    this.#hasPlainRows = fields.values.length === 1;
    // Rows of one key overlap in time, so their sums are meaningless.
    if (this.#isOnlyErrors) return;
    this.#inclusion = new InclusionCheck(fields, this.#headers.meta["sample"] === true);
  }

  #checkRecord(text: string, bytes: Uint8Array, lineStart: number, end: number): void {
    // The text no longer contains the byte order mark.
    const start =
      this.line === 1 ? lineStart + markLength(bytes.subarray(lineStart, end)) : lineStart;
    if (!this.#isInRecords) this.#startRecords();
    this.#records++;
    const { fields } = this.#headers;
    if (this.#isMap && text.startsWith('"')) {
      this.#add("bad-key", `key ${quote(text)} is quoted; keys of a map must not be`);
      return;
    }
    const record = this.#try("bad-columns", () => parseRecord(text, fields));
    if (record === undefined) return;
    const keyEnd = columnsEnd(bytes, start, end, fields.keys.length);
    const isNew = this.#checkOrder(bytes, start, keyEnd);
    if (!this.#isMap) return;
    const [key = ""] = record.keys;
    const malformed = keyFault(key, fields);
    if (malformed !== undefined) this.#add(malformed.code, malformed.message);
    this.#checkDatetime(record);
    const frequency = this.#checkFrequency(record);
    if (isNew && frequency !== undefined && malformed?.code !== "bad-key") {
      this.#inclusion?.add(this.line, bytes, start, keyEnd, frequency.mementos);
    }
  }

  /** Whether the keys of a record are new and in order. */
  #checkOrder(bytes: Uint8Array, start: number, end: number): boolean {
    const comparison = this.#lastKey.compareTo(bytes, start, end);
    const key = (): string => quote(decoder.decode(bytes.subarray(start, end)));
    if (comparison > 0) {
      this.#add("not-sorted", `key ${key()} comes after ${quote(this.#lastKey.text())}`);
      // In an unsorted map, more keys may follow below any key.
      this.#faults.push(...(this.#inclusion?.take() ?? []));
      this.#inclusion = undefined;
    } else if (comparison === 0) {
      this.#add("duplicate-key", `key ${key()} is also on the previous line`);
    }
    this.#lastKey.remember(bytes, start, end);
    return comparison < 0;
  }

  #checkDatetime({ keys, json }: UkvsRecord): void {
    const datetime = keys[this.#headers.fields.keys.indexOf("datetime")];
    if (datetime !== undefined && datetime !== "-") {
      this.#try("bad-datetime", () => parseDatetimeKey(datetime));
    }
    const split = json?.["datetime"];
    if (!isJsonObject(split)) return;
    for (const [part, frequency] of Object.entries(split)) {
      this.#try("bad-datetime", () => parseDatetimeKey(part));
      this.#try("bad-frequency", () => parseFrequency(String(frequency)));
    }
  }

  #checkFrequency({ values: [frequency = "/"] }: UkvsRecord): Frequency | undefined {
    return this.#try("bad-frequency", () => parseFrequency(frequency));
  }
}
