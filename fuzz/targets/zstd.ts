import { joinBytes } from "../../src/bytes/bytes.ts";
import { decompressed } from "../../src/files/decompress.ts";
import type { Outcome } from "../check.ts";
import { mustEqual, outcomeOfAsync, randomChunks } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const MAX_BYTES = 1 << 22;

/** As `zstd -c` writes them; Node 20 has no encoder. */
const FRAMES: readonly string[] = [
  "KLUv/QRYMQAAaGVsbG8KU4gZ9g==", // hello, with a checksum
  "KLUv/SAGMQAAaGVsbG8K", // its size is known
  "UCpNGAMAAABhYmMotS/9IAYxAABoZWxsbwo=", // behind a skippable frame
  "KLUv/WDoAkUAABBhYQEA4yvABQ==", // 1000 times a
];

export const target: TargetDefinition = {
  holds: "chunks do not matter",
  seeds: () => FRAMES.map((frame) => Buffer.from(frame, "base64")),
  async run(input, random) {
    const whole = await inflated([input]);
    mustEqual(await inflated(randomChunks(input, random)), whole, "in chunks");
  },
};

function inflated(chunks: readonly Uint8Array[]): Promise<Outcome<string>> {
  return outcomeOfAsync(async () => {
    const parts: Uint8Array[] = [];
    const options = { source: "input", maxDecompressedBytes: MAX_BYTES };
    for await (const part of decompressed(given(chunks), options)) parts.push(part.slice());
    return Buffer.from(joinBytes(parts)).toString("latin1");
  });
}

async function* given(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks;
}
