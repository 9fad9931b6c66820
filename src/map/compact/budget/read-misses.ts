import { wholeLines } from "../../../bytes/lines.ts";
import { LookupKeyBytes } from "../../lookup/lookup-key-bytes.ts";
import { LookupList } from "../../lookup/lookup-list.ts";
import { MissCollector } from "./miss-collector.ts";
import { MissList } from "./miss-list.ts";

/**
 * Reads a list of lookups that missed, URIs or SURTs, in the order they came; `lookup-list.ts` says
 * what it looks like. Holds all keys.
 *
 * @throws MM_BAD_INPUT for what is not such a list, MM_LIMIT for a line that is too long, or keys of
 *   4 GiB
 */
export async function readMissList(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<MissList> {
  const collector = new MissCollector();
  const key = new LookupKeyBytes();
  const list = new LookupList(source);
  for await (const block of wholeLines(chunks, source)) {
    list.forEach(block, (start, end) => {
      key.set(block, start, end);
      collector.add(key.bytes, key.start, key.end);
    });
  }
  list.end();
  return new MissList(collector, list.oddLines);
}
