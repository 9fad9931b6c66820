import { joinBytes } from "../bytes/bytes.ts";
import { frequencyCount, frequencyIsZero } from "../ukvs/frequency.ts";
import { UkvsHeaders } from "../ukvs/header.ts";
import { LastKey } from "../ukvs/record.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";

/** The headers of a map with one row for each SURT, which states a frequency and nothing else. */
export function timelessHeaders(headers: UkvsHeaders): UkvsHeaders {
  const { queries } = headers.fields;
  const fields = {
    keys: ["surt"],
    values: ["frequency"],
    ...(queries === true ? { queries } : {}),
  };
  const list = headers.list.filter(({ name }) => name !== "fields" && name !== "keys");
  return new UkvsHeaders([...list, { name: "fields", value: fields }]);
}

/** Writes one row for each SURT of a map with times: what is held at any time. */
export class Timeless implements RowSink {
  readonly #last = new LastKey(1);
  readonly #encoder = new TextEncoder();
  #rows: Uint8Array[] = [];
  #captures = 0;
  #isFirst = true;

  add(row: MapRow): void {
    const { bytes, start, keyEnd, frequencyStart, frequencyEnd } = row;
    if (this.#isFirst || this.#last.compareTo(bytes, start, keyEnd) !== 0) {
      this.#end();
      this.#last.remember(bytes, start, keyEnd);
      this.#isFirst = false;
    }
    if (frequencyIsZero(bytes, frequencyStart, frequencyEnd)) return;
    this.#captures += Math.max(1, frequencyCount(bytes, frequencyStart, frequencyEnd));
  }

  /** The rows that are complete. */
  take(): Uint8Array {
    return joinBytes(this.#rows.splice(0));
  }

  takeLast(): Uint8Array {
    this.#end();
    return this.take();
  }

  #end(): void {
    if (this.#captures > 0) {
      this.#rows.push(this.#encoder.encode(`${this.#last.text()} ${this.#captures}\n`));
    }
    this.#captures = 0;
  }
}
