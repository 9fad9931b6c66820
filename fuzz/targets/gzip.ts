import { gzipSync } from "node:zlib";
import { isChunk, newDamageLog } from "../../src/bytes/damage.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { joinBytes } from "../../src/bytes/bytes.ts";
import type { Outcome } from "../check.ts";
import { mustEqual, outcomeOfAsync, randomChunks } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const MAX_BYTES = 1 << 22;

export const target: TargetDefinition = {
  holds: "chunks do not matter; this thread, another, and one that goes on behind damage agree",
  seeds: () => [
    gzipSync("com,a)/ 2014 {}\n"),
    Buffer.concat([gzipSync("one\n"), gzipSync("two\n"), gzipSync(""), Buffer.alloc(5)]),
    gzipSync("a".repeat(5000), { level: 9 }),
    gzipSync("stored", { level: 0 }),
    Buffer.from("not compressed at all"),
  ],
  words: [Uint8Array.of(0x1f, 0x8b, 8, 0), gzipSync("word\n")],
  async run(input, random) {
    const whole = await inflated([input], { inPlace: true });
    const way = random.below(20);
    if (way < 15) {
      const chunks = randomChunks(input, random);
      mustEqual(await inflated(chunks, { inPlace: true }), whole, "in chunks");
    } else if (way === 15) {
      mustEqual(await inflated([input], { inPlace: false }), whole, "on another thread");
    } else {
      const lenient = await inflated([input], { damage: newDamageLog() });
      if ("value" in whole) mustEqual(lenient, whole, "with damage skipped");
      else must(lenient);
    }
  },
};

function must(outcome: Outcome<string>): void {
  // Damage is not an error; a limit is.
  if ("refused" in outcome) mustEqual(outcome.refused, "MM_LIMIT", "what is refused");
}

function inflated(
  chunks: readonly Uint8Array[],
  options: { readonly inPlace?: boolean; readonly damage?: ReturnType<typeof newDamageLog> },
): Promise<Outcome<string>> {
  return outcomeOfAsync(async () => {
    const parts: Uint8Array[] = [];
    const stream = decompressed(given(chunks), {
      source: "input",
      maxDecompressedBytes: MAX_BYTES,
      chunkBytes: 1 << 14,
      ...options,
    });
    for await (const part of stream) if (isChunk(part)) parts.push(part.slice());
    return Buffer.from(joinBytes(parts)).toString("latin1");
  });
}

async function* given(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks;
}
