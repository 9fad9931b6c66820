import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowsOf } from "./naive-map.ts";
import { cdxjLines } from "./index-arbitraries.ts";
import { runCli, SMALL_MEMORY } from "../support/run-cli.ts";
import type { CliResult } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { cases } from "../support/cases.ts";

function generate(folder: string, ...argv: string[]): Promise<CliResult> {
  const words = argv.map((word) => (word.startsWith("@") ? join(folder, word.slice(1)) : word));
  return runCli(["generate", "-q", "--threads", "1", ...SMALL_MEMORY, ...words]);
}

/** Writes a file that was last changed on a day of 2020. */
function write(folder: string, name: string, content: string | Uint8Array, day: number): void {
  const path = join(folder, name);
  writeFileSync(path, content);
  const seconds = Date.UTC(2020, 0, day) / 1000;
  utimesSync(path, seconds, seconds);
}

const NO_RECORD =
  "mementomap: warning: the map has no records: the input has no captures to count\n";

describe("generate --add", () => {
  it("gives the same bytes as both indexes together", async () => {
    await fc.assert(
      fc.asyncProperty(
        cdxjLines,
        cdxjLines,
        fc.constantFrom<string[]>(
          [],
          ["--by", "datetime:year"],
          ["--by", "datetime"],
          ["--status", "200"],
          ["--id", "https://a.example/", "--name", "A"],
        ),
        fc.boolean(),
        fc.integer({ min: 1, max: 20 }),
        async (before, after, options, isCompressed, day) => {
          const folder = scratchDir();
          const old = isCompressed ? "old.ukvs.gz" : "old.ukvs";
          write(folder, "old.cdxj", before.join("\n"), 10);
          write(folder, "new.cdxj", after.join("\n"), day);
          await generate(folder, "@old.cdxj", ...options, "-o", `@${old}`);
          const added = await generate(folder, "@new.cdxj", "--add", `@${old}`, ...options);
          const both = await generate(folder, "@old.cdxj", "@new.cdxj", ...options);
          expect(added).toEqual(both);
          const hasRows = /^[^!]/m.test(both.stdout);
          expect(both.stderr).toBe(hasRows ? "" : NO_RECORD);
          expect(both.code).toBe(0);
        },
      ),
      { numRuns: cases(40) },
    );
  });

  it("keeps what the map says of its archive, and works in place", async () => {
    const folder = scratchDir();
    const row = 'com,a)/ 20140101000000 {"url": "http://a.com/"}\n';
    write(folder, "a.cdxj", row, 3);
    await generate(folder, "@a.cdxj", "--id", "https://a.example/", "--name", "A", "-o", "@m.ukvs");
    write(folder, "b.cdxj", row, 2);
    expect(await generate(folder, "@b.cdxj", "--add", "@m.ukvs", "-o", "@m.ukvs")).toMatchObject({
      code: 0,
    });
    const text = readFileSync(join(folder, "m.ukvs"), "utf8");
    expect(text).toContain('!id {"uri":"https://a.example/"}');
    expect(text).toContain('"name":"A"');
    expect(text).toContain('"updated_at":"2020-01-03T00:00:00Z"');
    expect(text).toContain("\ncom,a)/ 2\n");
  });

  it("works as merge does, whatever the rows of the map say", async () => {
    const folder = scratchDir();
    const map = ["com,a)/ 5+", 'com,b)/ "7"', "com,c)/ 0", "com,d)/* 4", "com,e)/ 3/2", ""];
    write(folder, "m.ukvs", map.join("\n"), 1);
    const row = (host: string): string =>
      `com,${host})/ 20140101000000 {"url": "http://${host}.com/"}\n`;
    write(folder, "a.cdxj", ["b", "c", "d"].map(row).join(""), 1);
    const { stdout, stderr } = await generate(folder, "@a.cdxj", "--add", "@m.ukvs");
    expect([stderr, rowsOf(stdout)]).toEqual([
      "",
      ["com,a)/ 5+", "com,b)/ 8", "com,c)/ 1", "com,d)/ 1", "com,d)/* 4", "com,e)/ 3/2"],
    ]);
  });

  it.each<[string, string, string[], RegExp]>([
    [
      "other columns",
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ 2014 5\n',
      [],
      /\[MM_BAD_INPUT\]/,
    ],
    [
      "originals to count",
      "com,a)/ 5\n",
      ["--originals"],
      /which originals it counted.*\[MM_USAGE\]/,
    ],
    [
      "duplicates to tell",
      "com,a)/ 5\n",
      ["--distinct"],
      /which captures it counted.*\[MM_USAGE\]/,
    ],
  ])("refuses maps with %s", async (_name, map, options, message) => {
    const folder = scratchDir();
    write(folder, "m.ukvs", map, 1);
    write(folder, "a.cdxj.gz", gzipSync('com,a)/ 20140101000000 {"url": "http://a.com/"}\n'), 1);
    const result = await generate(folder, "@a.cdxj.gz", "--add", "@m.ukvs", ...options);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(message);
  });

  it("writes a count that would not be exact any more as a lower bound", async () => {
    const folder = scratchDir();
    write(folder, "m.ukvs", "com,a)/ 9007199254740991\n", 1);
    write(folder, "a.cdxj", 'com,a)/ 20140101000000 {"url": "http://a.com/"}\n', 1);
    const { code, stdout } = await generate(folder, "@a.cdxj", "--add", "@m.ukvs");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^com,a\)\/ 9007199254740991\+$/m);
  });

  it("refuses a map as an index, and says what to do", async () => {
    const folder = scratchDir();
    write(folder, "m.ukvs", '!context ["https://git.io/mementomap"]\ncom,a)/ 5\n', 1);
    const result = await generate(folder, "@m.ukvs");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(
      /this is a map, not an index; use generate --add MAP .*\[MM_BAD_INPUT\]/,
    );
  });
});
