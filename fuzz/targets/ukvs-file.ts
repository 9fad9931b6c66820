import type { Fault } from "../../src/maps/map-faults.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import { readUkvs } from "../../src/ukvs/reader.ts";
import type { UkvsRecord } from "../../src/ukvs/record.ts";
import type { Header } from "../../src/ukvs/header.ts";
import { mustEqual, outcomeOfAsync, randomChunks } from "../check.ts";
import { MAP_SEEDS, MAP_WORDS } from "../map-seeds.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "chunks do not matter to reading and validating; validate refuses nothing, it reports",
  seeds: () => MAP_SEEDS,
  words: MAP_WORDS,
  async run(input, random) {
    const chunks = randomChunks(input, random);
    if (random.chance(0.5)) {
      mustEqual(await faultsOf(chunks), await faultsOf([input]), "faults");
    } else {
      const whole = await outcomeOfAsync(() => read([input]));
      const parts = await outcomeOfAsync(() => read(chunks));
      // Which of two faults is seen first depends on how many lines are looked at together.
      mustEqual(
        "value" in parts ? parts : "refused",
        "value" in whole ? whole : "refused",
        "records",
      );
    }
  },
};

async function read(
  chunks: Iterable<Uint8Array>,
): Promise<{ headers: readonly Header[]; records: UkvsRecord[] }> {
  const reader = await readUkvs(chunks);
  const records: UkvsRecord[] = [];
  for await (const record of reader.records()) records.push(record);
  return { headers: reader.headers.list, records };
}

async function faultsOf(chunks: Iterable<Uint8Array>): Promise<Fault[]> {
  const faults: Fault[] = [];
  for await (const fault of validateMap(chunks)) faults.push(fault);
  // They come as they become certain, which depends on how many lines are looked at together.
  return faults.toSorted((a, b) => a.line - b.line || (a.code < b.code ? -1 : 1));
}
