import { must, mustEqual, outcomeOf, outcomeOfAsync } from "../check.ts";
import { oddHeader, packedSeeds, withChecksums } from "../packed-seeds.ts";
import type { TargetDefinition } from "../target.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";

const SURTS: readonly string[] = [
  "com,a)/",
  "com,a)/b",
  "com,a)/b?q=1",
  "com,a)/c/d/e/f/g/h/i/j/k",
  "com,a,www)/a/b?c",
  "com,d,e,f)/x",
  "dns:a.com",
  "org)/",
  "",
];

export const target: TargetDefinition = {
  holds: "a packed map is read or refused; at once and shard by shard it gives one answer",
  seeds: packedSeeds,
  words: [
    "\u0000\u0000\u0000\u0000",
    Uint8Array.of(0xff, 0xff, 0xff, 0xff),
    Uint8Array.of(0, 0, 0, 0x80),
    '"bits":33',
    '"shards":0',
    '"kind":"rows"',
    '"fingerprint":0',
  ],
  async run(input, random) {
    const changed = random.chance(0.3) ? oddHeader(random.pick(packedSeeds()), random) : input;
    // With their checksums, most damaged files come to the other checks.
    const file = random.chance(0.8) ? withChecksums(changed) : changed;
    const whole = outcomeOf(() => PackedLookup.of(file, "map"));
    const opened = await outcomeOfAsync(() => PackedLookup.open(new MemorySource(file, "map")));
    must("value" in opened || !("value" in whole), "what is read at once opens");
    const lazy = await PackedLookup.open(new MemorySource(file, "map"));
    for (const surt of [...SURTS, "com,a)".padEnd(random.below(2000), "/x,y")]) {
      const answer = await outcomeOfAsync(() => lazy.lookupSurt(surt));
      if ("value" in whole) {
        const held = await outcomeOfAsync(() => whole.value.lookupSurt(surt));
        mustEqual(answer, held, `the answer for ${surt}`);
        mustEqual({ value: whole.value.lookupSurtSync(surt) }, held, "the answer at once");
      }
      if (!("value" in answer)) continue;
      const { frequency = "0" } = answer.value;
      must(/^(?:\d+-|0|\/)$/.test(frequency), "a frequency", frequency);
    }
  },
};
