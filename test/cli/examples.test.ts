import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COMMAND_TABLE } from "../../src/cli/command-table.ts";
import { sampleIndex } from "../../src/sample/sample-archive.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { parseShellLine } from "../support/shell-line.ts";

const MAP = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
!meta {"name":"Example Archive"}
com,example)/ 3
org,example)/* 12/5
org,example)/private/* 0
`;
const NEWER = MAP.replace("com,example)/ 3", "com,example)/ 4");

const commands = await Promise.all(Array.from(COMMAND_TABLE.values(), (load) => load()));
const examples = commands.flatMap(({ examples: own }) => own.map(({ line }) => line));

/** The examples speak of these files. */
function writeFiles(): void {
  const index = Buffer.concat([...sampleIndex({ lines: 2000 })]);
  writeFileSync("index.cdxj", index);
  writeFileSync("index.cdxj.gz", gzipSync(index));
  for (const name of ["map.ukvs", "a.ukvs", "old.ukvs"]) writeFileSync(name, MAP);
  for (const name of ["b.ukvs", "new.ukvs"]) writeFileSync(name, NEWER);
  writeFileSync("uris.txt", "https://example.org/a\nhttps://example.net/\n");
}

describe("the examples of the help texts", () => {
  const before = process.cwd();

  beforeEach(() => {
    process.chdir(scratchDir());
    writeFiles();
  });

  afterEach(() => {
    process.chdir(before);
  });

  it.each(examples)("%s", async (line) => {
    const { argv, stdin } = parseShellLine(line);
    expect(argv[0]).toBe("mementomap");
    const world = stdin === undefined ? {} : { stdin: readFileSync(stdin) };
    const { code, stderr } = await runCli(argv.slice(1), world);
    expect(stderr).not.toContain("[MM_");
    expect([0, 1]).toContain(code);
  });
});
