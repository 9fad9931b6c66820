import { validateMap } from "../../src/maps/validate-map.ts";
import { outcomeOfAsync, utf8, Violation } from "../check.ts";
import { readMap } from "../read-index.ts";
import type { TargetDefinition } from "../target.ts";
import { target as detect } from "./detect.ts";

export const target: TargetDefinition = {
  holds: "validate accepts every map that generate makes",
  seeds: detect.seeds,
  words: detect.words,
  async run(input, random) {
    const map = await outcomeOfAsync(() =>
      readMap([input], {
        format: "auto",
        skipBad: random.chance(0.8),
        originals: random.chance(0.2),
        datetimeDigits: random.pick([0, 0, 0, 4, 14]),
      }),
    );
    if (!("value" in map)) return;
    for await (const fault of validateMap([map.value], { isOnlyErrors: true })) {
      const row = utf8(map.value).split("\n")[fault.line - 1];
      throw new Violation(`${fault.code}: ${fault.message}: ${JSON.stringify(row)}`);
    }
  },
};
