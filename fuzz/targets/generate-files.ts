import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
// Threads run the build.
import { generateMapFile } from "../../src/library/map-files.ts";
import type { Outcome } from "../check.ts";
import { latin1, mustEqual, outcomeOfAsync } from "../check.ts";
import { scratchFile } from "../scratch-file.ts";
import type { TargetDefinition } from "../target.ts";
import { target as cdxj } from "./cdxj.ts";

const FILES = 3;

export const target: TargetDefinition = {
  holds: "one thread, several, and gzip give the same map or the same error",
  // Threads and files for each input.
  share: 0.0005,
  seeds: cdxj.seeds,
  words: cdxj.words,
  async run(input, random) {
    const lines = latin1(input).split(/(?<=\n)/);
    const size = Math.ceil(lines.length / FILES);
    const plain: string[] = [];
    const compressed: string[] = [];
    for (let i = 0; i < FILES; i++) {
      const part = Buffer.from(lines.slice(i * size, (i + 1) * size).join(""), "latin1");
      plain.push(written(`${i}.cdxj`, part));
      compressed.push(written(`${i}.cdxj.gz`, gzipSync(part)));
    }
    const originals = random.chance(0.3);
    const skipBad = random.chance(0.7);
    const options = { format: "cdxj", originals, skipBad, description: DESCRIPTION } as const;
    const one = await mapOf(plain, { ...options, threads: 1 });
    mustEqual(await mapOf(plain, { ...options, threads: 2 }), one, "by two threads");
    mustEqual(await mapOf(compressed, { ...options, threads: 2 }), one, "from gzip");
  },
};

const DESCRIPTION = { updatedAt: "2016-11-15T00:00:00Z", generator: "fuzz" };

function mapOf(
  inputs: readonly string[],
  options: Parameters<typeof generateMapFile>[2],
): Promise<Outcome<string>> {
  return outcomeOfAsync(async () => {
    const path = scratchFile("map.ukvs");
    await generateMapFile(inputs, path, options);
    return readFileSync(path, "latin1");
  });
}

function written(name: string, bytes: Uint8Array): string {
  const path = scratchFile(name);
  writeFileSync(path, bytes);
  return path;
}
