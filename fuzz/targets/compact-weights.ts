import { Compactor } from "../../src/map/compact/compactor.ts";
import { MapLines } from "../../src/map/compact/map-lines.ts";
import { WeightPolicy } from "../../src/map/compact/weight-policy.ts";
import { CompactKernel } from "../../src/map/compact/run/compact-kernel.ts";
import { mustEqual, outcomeOf, Violation } from "../check.ts";
import { MAP_SEEDS, MAP_WORDS } from "../map-seeds.ts";
import { sortedRows } from "../sorted-rows.ts";
import type { TargetDefinition } from "../target.ts";

const WEIGHTS = [
  { hostWeight: 4, pathWeight: 2 },
  { hostWeight: 0.1, pathWeight: 0.1 },
];
const BLOCK_BYTES = 1 << 17;

/** Rows of a map, in order; both engines read them as if they were a whole file. */
export const target: TargetDefinition = {
  holds: "the kernel gives up, or writes what TypeScript writes",
  // Each input starts a WebAssembly instance.
  share: 0.02,
  seeds: () => MAP_SEEDS.map((map) => map.replaceAll(/^[!@\uFEFF].*\n/gm, "")),
  words: MAP_WORDS,
  run(input, random) {
    const rows = sortedRows(input);
    const policy = new WeightPolicy(random.pick(WEIGHTS));
    const written: Uint8Array[] = [];
    const kernel = CompactKernel.open(
      policy,
      BLOCK_BYTES,
      (bytes) => void written.push(bytes.slice()),
    );
    if (kernel === undefined) throw new Violation("the kernel is not built: npm run build");
    if (!kernel.take(rows) || !kernel.finish()) return;
    const expected = outcomeOf(() => {
      const blocks: Uint8Array[] = [];
      const compactor = new Compactor(policy, (bytes) => void blocks.push(bytes.slice()));
      const lines = new MapLines(compactor, { keys: ["surt"], values: ["frequency"] });
      lines.read(rows, { source: "map", firstLine: 1 });
      compactor.end();
      return text(blocks);
    });
    mustEqual({ value: text(written) }, expected, "what the kernel writes");
  },
};

function text(blocks: readonly Uint8Array[]): string {
  return Buffer.concat(blocks).toString();
}
