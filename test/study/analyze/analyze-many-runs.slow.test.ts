import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { analyzeFiles } from "../../../src/study/analyze/analyze-files.ts";
import { readLogs } from "../../../src/study/logs/read-logs.ts";
import { scratchDir } from "../../support/scratch.ts";

const STREAMS = { stdin: Readable.from([]), stdout: new Writable() };

/** An index that takes several runs in the least memory. */
function largeIndex(): string {
  const hash = (i: number): string => ((i * 2_654_435_761) % 2 ** 32).toString(36);
  const lines = Array.from(
    { length: 120_000 },
    (_, i) => `com,a${i % 9})/${hash(i).repeat(12)} 2014010100${1000 + (i % 5000)} {}\n`,
  );
  const path = join(scratchDir(), "index.cdxj");
  writeFileSync(path, [...lines, ...lines].join(""));
  return path;
}

describe("more runs than may be open at once", () => {
  const small = { streams: STREAMS, memoryBytes: 2 ** 20, maxOpenRuns: 2 };

  it("do not change what analyze finds, and leave nothing behind", async () => {
    const index = largeIndex();
    const scratch = scratchDir();
    const expected = await analyzeFiles([index], { streams: STREAMS });
    const found = await analyzeFiles([index], { ...small, scratch });
    expect(found.method.runs).toBeGreaterThan(4);
    expect({ ...found, method: undefined }).toEqual({ ...expected, method: undefined });
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("do not change what is found in logs", async () => {
    const log = join(scratchDir(), "memgator.log");
    writeFileSync(
      log,
      "INFO: 2016/06/09 12:00:00.123456 Aggregating Mementos for http://a1.com/a\n" +
        "INFO: 2016/06/09 12:00:01.123456 ia => Success: 42 mementos\n",
    );
    const options = { ...small, holdings: [largeIndex()] };
    const expected = await readLogs([log], { ...options, maxOpenRuns: undefined });
    expect(await readLogs([log], { ...options, scratch: scratchDir() })).toEqual(expected);
  });
});
