import { compareBytes } from "../bytes/compare.ts";
import { formatHeaders, type UkvsHeaders } from "./header.ts";
import { type MapSize, sizeLine } from "./map-size.ts";

const ENCODER = new TextEncoder();
const UNKNOWN: MapSize = { bytes: 0, records: 0 };

/** The header lines of a map, `!size` included: as long for every size. */
export class SizedHead {
  readonly #before: string;
  readonly #after: string;
  /** Bytes of all lines. */
  readonly length: number;
  /** How many lines there are. */
  readonly lines: number;

  constructor(headers: UkvsHeaders) {
    const lines = formatHeaders(headers);
    const own = ENCODER.encode(sizeLine(UNKNOWN));
    const isBefore = (line: string): boolean => compareBytes(ENCODER.encode(line), own) < 0;
    this.#before = textOf(lines.filter(isBefore));
    this.#after = textOf(lines.filter((line) => !isBefore(line)));
    this.lines = lines.length + 1;
    this.length = this.bytes(UNKNOWN).length;
  }

  /** The lines, each with its end. */
  bytes(size: MapSize): Uint8Array {
    return ENCODER.encode(`${this.#before}${sizeLine(size)}\n${this.#after}`);
  }
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
