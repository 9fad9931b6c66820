import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

/** The rows that `compact` makes of a map. */
async function compacted(map: string | Uint8Array, ...options: string[]): Promise<string[]> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, map);
  const { code, stdout, stderr } = await runCli(["compact", "-q", ...options, path]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

async function refusal(map: string | Uint8Array, ...options: string[]): Promise<string> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, map);
  const { code, stdout, stderr } = await runCli(["compact", "-q", ...options, path]);
  expect([code, stdout]).toEqual([2, ""]);
  return stderr;
}

const WEIGHTS = ["--host-weight", "inf", "--path-weight", "inf"];
const ROLL_UP = ["--host-weight", "inf", "--path-weight", "0"];
const BUDGET = ["--max-lines", "100"];

describe.each([
  ["weights", WEIGHTS],
  ["a budget", BUDGET],
])("compact by %s", (_, options) => {
  it.each([
    ["a byte order mark", "\uFEFFcom,a)/ 1\n", ["com,a)/ 1"]],
    ["a byte order mark before a header", "\uFEFF!meta {}\ncom,a)/ 1\n", ["com,a)/ 1"]],
    ["quoted values", 'com,a)/ "1"\n', ["com,a)/ 1"]],
    [
      "CRLF, tabs and blank lines",
      "com,a)/\t1\r\n \t\r\n\r\ncom,b)/  2 \r\n",
      ["com,a)/ 1", "com,b)/ 2"],
    ],
    ["older spellings", "com,a) 5/\ncom,b)/ -\n", ["com,a)/ 5", "com,b)/ /"]],
    ["a * in a key", "com,a)/b*c 2\ncom,a)/b.1 1\n", ["com,a)/b%2ac 2", "com,a)/b.1 1"]],
    ["relaxed JSON", "com,a)/ 1 {a:1}\n", ['com,a)/ 1 {"a":1}']],
    ["the mark of an only page", '!meta {"page":{"number":1,"of":1}}\ncom,a)/ 1\n', ["com,a)/ 1"]],
  ])("reads %s", async (_name, map, rows) => {
    expect(await compacted(map, ...options)).toEqual(rows);
  });

  it.each([
    ["MM_PAGE", '!meta {"page":{"number":1,"of":2}}\ncom,a)/ 1\n'],
    ["MM_NOT_SORTED", "com,b)/ 1\ncom,a)/ 1\n"],
    ["MM_NOT_SORTED", "com,a)/ 1\ncom,a)/ 2\n"],
    // As writers spell it, the key belongs elsewhere: merge puts it there.
    ["MM_NOT_SORTED", "com,a)/b(1) 1\ncom,a)/b*c 2\n"],
    ["MM_BAD_LINE", Buffer.from("com,a)/\xff 1\n", "latin1")],
    ["MM_BAD_LINE", "com,a)/\u007f 1\n"],
    ["MM_BAD_KEY", '"com,a)/" 1\n'],
    ["MM_BAD_HEADER", "com,a)/ 1\n!meta {}\n"],
  ])("refuses with %s: %j", async (code, map) => {
    expect(await refusal(map, ...options)).toContain(`[${code}]`);
  });
});

describe("compact", () => {
  it("takes a row of 0 that holds something of some time as present", async () => {
    const map = 'com,a)/x 0 {"datetime":{"2015":"5"}}\ncom,a)/y 0\n';
    expect(await compacted(map, ...ROLL_UP)).toEqual(["com,a)/* 5", "com,a)/y 0"]);
  });

  it("keeps what a wildcard of another time does not cover", async () => {
    const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    const map = `${fields}com,a)/* 2014 5\ncom,a)/x 2015 3\n`;
    expect(await compacted(map, ...ROLL_UP)).toEqual(["com,a)/* 2014 5", "com,a)/* 2015 3"]);
  });

  it("refuses a page that a map has under two spellings, which merge adds up", async () => {
    const parted = 'c*m,a%2ab) 5+ {"datetime":{"2014":"0"}}\nc*m,a%2ab)/ 1\n';
    expect(await refusal(parted, ...ROLL_UP)).toContain(
      'occurs twice; "mementomap merge" adds such rows up',
    );
    const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    const timed = `${fields}org) 2014 0\norg)/ : 1\n`;
    expect(await refusal(timed, ...ROLL_UP)).toContain(
      'occurs twice; "mementomap merge" adds such rows up',
    );
  });

  it("writes all value columns of a roll-up", async () => {
    const map =
      '!fields {"keys":["surt"],"values":["frequency","note"]}\ncom,a)/x 1 a\ncom,a)/y 2 b\n';
    expect(await compacted(map, ...ROLL_UP)).toEqual(["com,a)/* 3 -"]);
  });
});
