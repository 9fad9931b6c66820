import { execFileSync } from "node:child_process";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packageVersion } from "../../src/files/package-file.ts";
import { cdxjLines, fileLayout } from "./index-arbitraries.ts";
import { naiveRows, rowsOf } from "./naive-map.ts";
import { runCli } from "../support/run-cli.ts";
import type { CliWorld } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { cases } from "../support/cases.ts";

/** The rows that `generate` writes for files, given by their texts. */
async function generatedRows(
  files: readonly (string | Uint8Array)[],
  options: readonly string[] = [],
  world: CliWorld = {},
): Promise<string[]> {
  const folder = scratchDir();
  const paths = files.map((content, i) => {
    const path = join(folder, `index-${i}`);
    writeFileSync(path, content);
    return path;
  });
  const result = await runCli(["generate", "-q", "--threads", "1", ...options, ...paths], world);
  const rows = rowsOf(Buffer.from(result.stdout));
  const warning =
    "mementomap: warning: the map has no records: the input has no captures to count\n";
  expect(result).toMatchObject({ code: 0, stderr: rows.length === 0 ? warning : "" });
  return rows;
}

function cutInTwo<T>(list: readonly T[], at: number): [T[], T[]] {
  return [list.slice(0, at), list.slice(at)];
}

/** A zstd frame of stored blocks: nothing in Node 20 compresses zstd. */
function zstdStored(bytes: Uint8Array): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  header.writeUInt32LE(bytes.length, 5);
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += 1 << 16) {
    const block = bytes.subarray(at, at + (1 << 16));
    const isLast = at + (1 << 16) >= bytes.length ? 1 : 0;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE((block.length << 3) | isLast, 0, 3);
    blocks.push(blockHeader, Buffer.from(block));
  }
  return Buffer.concat([header, ...blocks]);
}

describe("generate", () => {
  it("counts what a naive count counts, however lines are spread over files", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cdxjLines, fileLayout), { minLength: 1, maxLength: 4 }),
        fc.record({
          originals: fc.boolean(),
          datetimeDigits: fc.constantFrom(0, 4, 6, 8, 14),
          distinct: fc.boolean(),
        }),
        async (files, { originals, datetimeDigits, distinct }) => {
          const units = { 4: ":year", 6: ":month", 8: ":day", 14: "" } as Record<number, string>;
          const options = [
            ...(originals ? ["--originals"] : []),
            ...(distinct ? ["--distinct"] : []),
            ...(datetimeDigits === 0 ? [] : ["--by", `datetime${units[datetimeDigits]}`]),
          ];
          const expected = naiveRows(
            files.flatMap(([lines]) => lines),
            { originals, datetimeDigits, distinct },
          );
          const texts = files.map(([lines, layout]) => layout(lines));
          expect(await generatedRows(texts, options)).toEqual(expected);
          expect(await generatedRows(texts.toReversed(), options)).toEqual(expected);
        },
      ),
      { numRuns: cases(15) },
    );
  });

  it("does not depend on how the input comes: file, files, stdin, gzip, zstd", async () => {
    const lines = Array.from(
      { length: 3000 },
      (_, i) => `com,h${(i * 31) % 53})/${(i * 7919) % 997}/${i % 3}?${i % 5} 2014 {}`,
    );
    const text = lines.join("\n");
    const bytes = Buffer.from(text);
    const expected = naiveRows(lines);
    expect(await generatedRows([text])).toEqual(expected);
    for (const at of [1, 1500, 2999]) {
      const parts = cutInTwo(lines, at).map((part) => part.join("\n"));
      expect(await generatedRows(parts)).toEqual(expected);
      expect(await generatedRows(parts.toReversed())).toEqual(expected);
    }
    const inTheMiddle = Math.floor(bytes.length / 2) + 3;
    const members = cutInTwo([...bytes], inTheMiddle).map((part) => gzipSync(Buffer.from(part)));
    const forms = {
      plain: bytes,
      gzip: gzipSync(bytes),
      members: Buffer.concat(members),
      zstd: zstdStored(bytes),
    };
    for (const form of Object.values(forms)) {
      expect(await generatedRows([form])).toEqual(expected);
      expect(await generatedRows([], [], { stdin: form })).toEqual(expected);
      expect(await generatedRows(["", form], ["-"], { stdin: "" })).toEqual(expected);
    }
  });

  it("does not depend on memory", async () => {
    const lines = Array.from(
      { length: 150_000 },
      (_, i) => `com,h${(i * 31) % 5003})/${(i * 7919) % 140_009} 2014 {}`,
    );
    const folder = scratchDir();
    const path = join(folder, "index");
    writeFileSync(path, lines.join("\n"));
    const little = await runCli(["generate", "--json", "--threads", "1", "--memory", "1m", path]);
    expect(JSON.parse(little.stderr)).toMatchObject({ captures: 150_000 });
    expect((JSON.parse(little.stderr) as { runs: number }).runs).toBeGreaterThan(2);
    const much = await runCli(["generate", "--json", "--threads", "1", "--memory", "256m", path]);
    expect(JSON.parse(much.stderr)).toMatchObject({ runs: 0 });
    expect(little.stdout).toBe(much.stdout);
    expect(rowsOf(little.stdout)).toEqual(naiveRows(lines));
  });

  it.each([
    ["an empty file", "", []],
    ["blank lines only", "\n\r\n\n", []],
    ["headers only", "!meta {}\n", []],
    ["no line end at the end", "com,a)/ 2014 {}\ncom,a)/b 2014 {}", ["com,a)/ 1", "com,a)/b 1"]],
    ["CR LF", "com,a)/ 2014 {}\r\ncom,a)/b 2014 {}\r\n", ["com,a)/ 1", "com,a)/b 1"]],
    ["blank lines in between", "\ncom,a)/ 2014 {}\n\n\ncom,a)/ 2014 {}\n", ["com,a)/ 2"]],
    ["a list of URIs", "http://www.A.com:80/x/?y\nhttps://a.com/x\n", ["com,a)/x 2"]],
    ["a list of SURTs", "com,a)/x?y\ncom,a)\n", ["com,a)/ 1", "com,a)/x 1"]],
    [
      "CDXJ keyed by host and path",
      'a.com/x 2014 {"url": "http:\\/\\/a.com\\/x?y"}\n',
      ["com,a)/x 1"],
    ],
    ["a page named *", "com,a)/b/* 2014 {}\n", ["com,a)/b/%2a 1"]],
  ])("reads %s", async (_, text, rows) => {
    expect(await generatedRows([text])).toEqual(rows);
  });

  it("reads every file in its own format", async () => {
    const files = [
      " CDX b N\n2014 com,a)/\n",
      "com,a)/ 2014 {}\n",
      "http://a.com/\n",
      "com,a)/\n",
      "|CDX|N|b\ncom,a)/|2014\n",
    ];
    expect(await generatedRows(files)).toEqual(["com,a)/ 5"]);
  });

  it("writes rows in the order of LC_ALL=C sort, and a map without faults", async () => {
    const lines = ["a", "a-b", "a.html", "a/b", "a0", "A", "é", "\u{10000}", "\uffee", "~"].flatMap(
      (path) => [`com,x)/${path}?q 2014 {}`, `com,x,sub)/${path} 2014 {}`, `com)/${path} 2014 {}`],
    );
    const folder = scratchDir();
    const map = join(folder, "map");
    writeFileSync(join(folder, "index"), lines.join("\n"));
    const result = await runCli(["generate", "-q", join(folder, "index"), "-o", map]);
    expect(result).toEqual({ code: 0, stdout: "", stderr: "" });
    execFileSync("sort", ["-c", map], { env: { ...process.env, LC_ALL: "C" } });
    expect(await runCli(["validate", "--strict", map])).toMatchObject({ code: 0, stdout: "" });
    expect(rowsOf(readFileSync(map))).toHaveLength(lines.length);
  });
});

describe("generate with filters", () => {
  const row = (path: string, date: string, mime: string, status: string): string =>
    `com,a)/${path} ${date} {"url": "http://a.com/${path}", "mime": "${mime}", "status": "${status}"}`;
  const index = [
    row("", "20120101000000", "text/html", "200"),
    row("", "20130101000000", "text/html; charset=utf-8", "200"),
    row("gone", "20130101000000", "text/html", "404"),
    row("moved", "20130101000000", "text/html", "301"),
    row("pic", "20130101000000", "image/png", "200"),
    row("robots.txt", "20130101000000", "text/html", "200"),
  ].join("\n");

  it.each([
    [[], ["com,a)/ 2", "com,a)/gone 1", "com,a)/moved 1", "com,a)/pic 1", "com,a)/robots.txt 1"]],
    [["--preset", "paper"], ["com,a)/ 2"]],
    [["--preset", "paper", "--status", "404"], ["com,a)/gone 1"]],
    [
      ["--status", "3xx", "--status", "404"],
      ["com,a)/gone 1", "com,a)/moved 1"],
    ],
    [
      ["--status", "3xx,404"],
      ["com,a)/gone 1", "com,a)/moved 1"],
    ],
    [["--mime", "image/*"], ["com,a)/pic 1"]],
    [["--to", "2012"], ["com,a)/ 1"]],
    [
      [
        "--from",
        "2013",
        "--mime",
        "text/html",
        "--exclude",
        "robots",
        "--exclude",
        "^http://a.com/g",
      ],
      ["com,a)/ 1", "com,a)/moved 1"],
    ],
    [["--exclude", "."], []],
  ])("%j", async (options, rows) => {
    expect(await generatedRows([index], options)).toEqual(rows);
  });

  it("says what was left out, and why", async () => {
    const folder = scratchDir();
    const path = join(folder, "index");
    writeFileSync(path, `${index}\nbad\n\n!x\ndns:a.com 2014 {}\n`);
    const { stderr, code } = await runCli([
      "generate",
      "--json",
      "--skip-bad",
      "--preset",
      "paper",
      path,
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      lines: 10,
      blank: 1,
      headers: 1,
      nonWeb: 1,
      bad: 1,
      filtered: { status: 2, mime: 1, date: 0, exclude: 1 },
      captures: 2,
      rows: 1,
    });
  });
});

describe("the headers of a generated map", () => {
  const index = 'com,a)/ 20140126200624 {"url": "http://a.com/"}\n';

  async function headersOf(
    options: readonly string[],
    env: Record<string, string> = {},
  ): Promise<string[]> {
    const folder = scratchDir();
    const [older, newer] = [join(folder, "older"), join(folder, "newer")];
    for (const path of [older, newer]) writeFileSync(path, index);
    utimesSync(older, new Date("2001-01-01T00:00:00Z"), new Date("2001-01-01T00:00:00Z"));
    utimesSync(newer, new Date("2011-02-03T04:05:06.789Z"), new Date("2011-02-03T04:05:06.789Z"));
    const { stdout } = await runCli(["generate", "-q", ...options, newer, older], { env });
    const lines = stdout.split("\n").filter((line) => line.startsWith("!"));
    return lines.map((line) => line.trimEnd());
  }

  const generator = `"generator":"mementomap/${packageVersion()}","canonicalization":"surt"`;

  it("say when the newest input changed, so that the same input gives the same map", async () => {
    expect(await headersOf([])).toEqual([
      '!context ["https://git.io/mementomap"]',
      '!fields {"keys":["surt"],"values":["frequency"]}',
      `!meta {"type":"MementoMap","updated_at":"2011-02-03T04:05:06Z",${generator}}`,
      '!size {"bytes":10,"records":1}',
    ]);
  });

  it("name the archive as the user does", async () => {
    expect(
      await headersOf(["--id", "https://a.example/", "--name", 'Ä "1"'], {
        SOURCE_DATE_EPOCH: "0",
      }),
    ).toEqual([
      '!context ["https://git.io/mementomap"]',
      '!fields {"keys":["surt"],"values":["frequency"]}',
      '!id {"uri":"https://a.example/"}',
      `!meta {"name":"Ä \\"1\\"","type":"MementoMap","updated_at":"1970-01-01T00:00:00Z",${generator}}`,
      '!size {"bytes":10,"records":1}',
    ]);
  });

  it("name the key columns", async () => {
    expect(await headersOf(["--by", "datetime:year"])).toContain(
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}',
    );
  });
});
