import { BatchAnswers } from "../../src/lookup/batch.ts";
import { type Answer, answerLine } from "../../src/lookup/map-lookup.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { lineBatches } from "../../src/bytes/lines.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import type { Outcome } from "../check.ts";
import { bytesOf, must, mustEqual, outcomeOf, outcomeOfAsync, utf8 } from "../check.ts";
import { MAP_SEEDS, MAP_WORDS } from "../map-seeds.ts";
import type { TargetDefinition } from "../target.ts";

const TIMES: readonly (string | undefined)[] = [
  undefined,
  undefined,
  "2014",
  "201501",
  "20160102030405",
];
const SURTS: readonly string[] = [
  "com,a)/",
  "com,a)/b",
  "com,a,www)/a/b?c",
  "com,b)/c/d",
  "org,x)/",
];

export const target: TargetDefinition = {
  holds: "a map that validate accepts is indexed; file, index and batch give one answer",
  seeds: () => MAP_SEEDS,
  words: MAP_WORDS,
  async run(input, random) {
    const index = outcomeOf(() => MemoryIndex.build(input.slice()));
    const isSound = await isValid(input);
    if (!("value" in index)) {
      // A map without a record is a sound file, and nothing to look up in.
      must(
        !isSound || index.refused === "MM_EMPTY",
        `validate finds no error, and the index refuses it (${index.refused})`,
      );
      return;
    }
    if (!isSound) return;
    const search = await MapSearch.open(new MemorySource(input, "map"), {});
    const at = random.pick(TIMES);
    // Known to differ: `c?om,a)`, a home page without its slash on a host with a `?`, is found in a file only.
    const keys = (utf8(input).match(/^[^!@\s]\S*/gm) ?? []).filter((key) => !/\?.*\)$/.test(key));
    for (const surt of [random.pick(SURTS), ...keys.slice(0, 2)]) {
      const options = at === undefined ? {} : { at };
      const indexed: Outcome<Answer> = outcomeOf(() => index.value.lookupSurtSync(surt, options));
      const found = await outcomeOfAsync(() => search.lookupSurt(surt, options));
      mustEqual(found, indexed, `the answer of a file for ${surt} at ${at}`);
      if (at !== undefined || !("value" in indexed)) continue;
      const line = await outcomeOfAsync(() => batchLine(index.value, surt));
      mustEqual(line, { value: `${answerLine(surt, indexed.value)}\n` }, "a line of a batch");
    }
  },
};

async function isValid(map: Uint8Array): Promise<boolean> {
  for await (const { severity } of validateMap([map], { isOnlyErrors: true })) {
    if (severity === "error") return false;
  }
  return true;
}

async function batchLine(index: MemoryIndex, surt: string): Promise<string> {
  let text = "";
  const sink = { write: (block: Uint8Array) => void (text += utf8(block)) };
  const answers = new BatchAnswers(index, sink, { isSurt: true });
  for await (const batch of lineBatches([bytesOf(`${surt}\n`)])) await answers.writeLines(batch);
  await answers.flush();
  return text;
}
