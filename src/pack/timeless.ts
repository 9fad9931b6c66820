import { joinBytes } from "../bytes/bytes.ts";
import { feedRows } from "../compact/compact-map.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import { headerText, UkvsHeaders } from "../ukvs/header.ts";
import { LastKey } from "../ukvs/record.ts";

const ROW_END = new TextEncoder().encode(" 1\n");

/** Converts a map with datetimes to one without: a row for each SURT that is held at any time. */
export async function* withoutTimes(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const timeless = new Timeless();
  for await (const _ of feedRows(chunks, source, (headers) => timeless.begin(headers))) {
    yield joinBytes(timeless.text.splice(0));
  }
}

class Timeless implements RowSink {
  readonly text: Uint8Array[] = [];
  readonly #last = new LastKey(1);

  begin({ list, fields }: UkvsHeaders): this {
    const { queries } = fields;
    const value = {
      keys: ["surt"],
      values: ["frequency"],
      ...(queries === true ? { queries } : {}),
    };
    const others = list.filter(({ name }) => name !== "fields" && name !== "keys");
    this.text.push(headerText(new UkvsHeaders([...others, { name: "fields", value }])));
    return this;
  }

  add({ bytes, start, keyEnd, frequencyStart, frequencyEnd }: MapRow): void {
    if (frequencyIsZero(bytes, frequencyStart, frequencyEnd)) return;
    if (this.#last.compareTo(bytes, start, keyEnd) === 0) return;
    this.#last.remember(bytes, start, keyEnd);
    this.text.push(bytes.slice(start, keyEnd), ROW_END);
  }
}
