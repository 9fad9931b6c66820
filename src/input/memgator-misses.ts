import { lineBatches } from "../bytes/lines.ts";
import { MementoMapError, quote } from "../errors.ts";
import type { MemgatorHoldingsOptions } from "./memgator-holdings.ts";
import { noSuchArchive, refuseSeveral } from "./memgator-holdings.ts";
import { MemgatorLog } from "./memgator-log.ts";

/**
 * Turns the logs of an aggregator into a list of URIs that one archive did not have, a line each, in
 * the order they were asked for.
 *
 * Holds one block of the log.
 *
 * @throws MM_BAD_INPUT for a log without a miss whose URI is certain; MM_USAGE when no archive is chosen and the log has several, or does not have the chosen one.
 */
export async function* memgatorMisses(
  chunks: AsyncIterable<Uint8Array>,
  options: MemgatorHoldingsOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { archive, source } = options;
  const archives = new Set<string>();
  const log = new MemgatorLog({ answered: (one) => void archives.add(one) });
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let isEmpty = true;
  for await (const { bytes, starts, ends, count } of lineBatches(chunks, options)) {
    let uris = "";
    for (let i = 0; i < count; i++) {
      const outcome = log.read(decoder.decode(bytes.subarray(starts[i], ends[i])));
      if (outcome?.result !== "miss") continue;
      if (archive === undefined || outcome.archive === archive) uris += `${outcome.uri}\n`;
    }
    refuseSeveral(archives, options);
    if (uris === "") continue;
    isEmpty = false;
    yield encoder.encode(uris);
  }
  if (archive !== undefined && !archives.has(archive)) {
    throw noSuchArchive(archive, archives, options);
  }
  if (isEmpty) {
    const whose = archive ?? [...archives][0];
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `the log has no miss of ${whose === undefined ? "any archive" : quote(whose)} whose URI is certain`,
      { position: { source } },
    );
  }
}
