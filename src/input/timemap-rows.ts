import { MARK_BYTES, markLength } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { badInput, isMementoMapError, quote } from "../errors.ts";
import { formatDatetime } from "../memento/datetime.ts";
import { timeMapReader } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { surt } from "../surt/uri-to-surt.ts";
import { rowLine, type RowSource } from "./rows.ts";
import { unbroken } from "../bytes/damage.ts";

/**
 * Reads TimeMaps in link format (RFC 7089), or in MemGator's JSON or CDXJ: one line per memento, with
 * the original URI.
 *
 * Holds all mementos of the TimeMap, because its original may come last.
 *
 * @throws MM_BAD_INPUT for no original, two originals, or anything that is not a memento; MM_LIMIT
 *   for more than 5 million mementos.
 */
export const timeMapRows: RowSource = async function* (parts, { source, archive }) {
  const { original, otherOriginal, mementos, faults, firstFault } = await readTimeMap(
    unbroken(parts, source),
    source,
  );
  if (faults > 0) {
    throw badInput(
      source,
      `not a TimeMap: ${quote(firstFault ?? "")} is neither a link, nor a line with a datetime, nor JSON`,
    );
  }
  if (original === undefined) {
    throw badInput(source, "the TimeMap does not name its original");
  }
  if (otherOriginal !== undefined && surt(otherOriginal) !== surt(original)) {
    throw badInput(
      source,
      `has two originals, ${quote(original)} and ${quote(otherOriginal)}, whose mementos cannot be ` +
        "told apart; pass each TimeMap as a separate file",
    );
  }
  for (let i = 0; i < mementos.count; i++) {
    if (archive !== undefined && !mementos.uriAt(i).includes(archive)) continue;
    const date = formatDatetime(mementos.datetimeAt(i));
    yield rowLine({ uri: original, date, mime: "", status: "" });
  }
};

async function readTimeMap(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<TimeMapReading> {
  const reader = timeMapReader();
  try {
    const text = await peek(chunks, MARK_BYTES);
    let skipped = markLength(text.head);
    for await (const chunk of text.chunks) {
      reader.write(chunk.subarray(skipped));
      skipped = Math.max(0, skipped - chunk.length);
    }
    return reader.end();
  } catch (error) {
    throw isMementoMapError(error) && error.position === undefined ? error.at({ source }) : error;
  }
}
