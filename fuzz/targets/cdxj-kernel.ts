import { CdxjScanner } from "../../src/map/generate/cdxj-scanner.ts";
import { PAPER_PRESET } from "../../src/input/filter.ts";
import { mustEqual, outcomeOfAsync, Violation } from "../check.ts";
import { MAX_LINE_BYTES, readIndex } from "../read-index.ts";
import type { TargetDefinition } from "../target.ts";
import { target as cdxj } from "./cdxj.ts";

let scanner: CdxjScanner | undefined;

export const target: TargetDefinition = {
  holds: "lines scanned by the kernel come to what TypeScript makes of them",
  // Rows repeat, so that the kernel learns how they are laid out.
  seeds: () => cdxj.seeds().map((seed) => `${String(seed)}\n`.repeat(4)),
  words: cdxj.words,
  async run(input, random) {
    scanner ??= CdxjScanner.open(1 << 17, MAX_LINE_BYTES);
    if (scanner === undefined) throw new Violation("the kernel is not built: npm run build");
    const filter = random.pick([
      {},
      PAPER_PRESET,
      { status: ["2xx", "404"] },
      { from: "20140102", to: "2015" },
      { mime: ["text/*"], skipRevisits: true },
    ]);
    const options = { format: "cdxj", filter, skipBad: random.chance(0.5) } as const;
    const plain = await outcomeOfAsync(() => readIndex([input], options));
    const scanned = await outcomeOfAsync(() => readIndex([input], { ...options, scanner }));
    mustEqual(scanned, plain, "read by the kernel");
  },
};
