import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { COMMAND_TABLE } from "../../src/cli/main.ts";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { packedBytes } from "../support/packed-file.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";
import { spawnCli, spawnShell } from "../support/spawn-cli.ts";

const MAP = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
!meta {"name":"Example Archive"}
com,example)/ 3
org,example)/* 12/5
org,example)/private/* 0
`;
const NEWER = MAP.replace("com,example)/ 3", "com,example)/ 4");

const PACKED = await packedBytes(MAP);

const PARTS = await exampleParts();

/** Runs of two splits, where to cut them, and the parts between. */
async function exampleParts(): Promise<Record<string, Uint8Array>> {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
  const at = (name: string): string => join(folder, name);
  const lines = Buffer.concat([...sampleIndex({ lines: 2000 })]);
  const middle = lines.indexOf("\n", lines.length / 2) + 1;
  writeFileSync(at("a.cdxj"), lines.subarray(0, middle));
  writeFileSync(at("b.cdxj"), lines.subarray(middle));
  const made = ["a.run", "b.run"].map(at);
  await runCli(["partition", "-q", at("a.cdxj"), "-o", at("a.run")]);
  await runCli(["partition", "-q", at("b.cdxj"), "-o", at("b.run")]);
  await runCli(["partition", "-q", "--into", "2", ...made, "-o", at("cuts.txt")]);
  for (const range of ["1", "2"]) {
    const cut = ["--cuts", at("cuts.txt"), "--range", range];
    await runCli(["combine", "-q", ...cut, ...made, "-o", at(`part-${range}.ukvs`)]);
  }
  const files = readdirSync(folder).map((name) => [name, readFileSync(at(name))] as const);
  rmSync(folder, { recursive: true });
  return Object.fromEntries(files);
}

const commands = await Promise.all(Array.from(COMMAND_TABLE.values(), ({ load }) => load()));
const lines = commands.flatMap(({ examples: own }) => Object.values(own));
const isServer = (line: string): boolean => / serve | --serve /.test(line);
const examples = lines.filter((line) => !isServer(line));
const servers = lines.filter(isServer);

/** A folder with the files that the examples speak of. */
function exampleFolder(archive: string = "https://archive.example"): string {
  const folder = scratchDir();
  const index = Buffer.concat([...sampleIndex({ lines: 2000 })]);
  const uris = "https://example.org/a\nhttps://example.net/\n";
  const files: Record<string, string | Uint8Array> = {
    "index.cdxj": index,
    "index.cdxj.gz": gzipSync(index),
    "new.cdxj": index,
    "archives.json": JSON.stringify([
      {
        id: "archive.example",
        name: "Example Archive",
        timemap: `${archive}/timemap/link/`,
        timegate: `${archive}/timegate/`,
        mementomap: "map.ukvs",
      },
    ]),
    "holdings.json": JSON.stringify([{ id: "real", holdings: "map.ukvs" }]),
    "aggregator.json": '{"archives": "archives.json", "monitor": true}',
    "base.ukvs": "com,example)/ 3\n",
    "uris.txt": uris,
    "memgator.log":
      "INFO: 2016/06/09 12:00:00.123456 Aggregating Mementos for https://example.org/a\n" +
      "INFO: 2016/06/09 12:00:01.123456 ia => Success: 42 mementos\n",
    "urls.txt": uris,
    "map.ukvs": MAP,
    "map.packed": PACKED,
    "a.ukvs": MAP,
    "b.ukvs": NEWER,
    "old.ukvs": MAP,
    "foreign.ukvs": MAP,
    "new.ukvs": NEWER,
  };
  for (const [name, content] of Object.entries({ ...files, ...PARTS })) {
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** The archive that the examples speak of. */
function exampleArchive(): Promise<string> {
  return serveOnLoopback((url, response) => {
    if (url.pathname.startsWith("/timegate/")) response.statusCode = 404;
    response.end(
      url.pathname === "/search"
        ? '{"response_items": []}'
        : 'org,example)/ 20140101000000 {"url": "http://example.org/"}\n',
    );
  });
}

describe.skipIf(process.platform === "win32")("the examples of the help texts", () => {
  it.each(examples)("%s", async (line) => {
    expect(line).toMatch(/(?:^|\| )mementomap /);
    const isOfMap = / fetch | validate --url /.test(line);
    const archive = isOfMap ? (await serving(MAP)).url : await exampleArchive();
    const local = line.replaceAll(/https:\/\/(?:archive|agg)\.example/g, archive);
    const { code, stderr } = await spawnShell(`cd '${exampleFolder(archive)}'\n${local}`);
    // Nothing is wrong with a no: `diff` finds differences, `lookup` finds nothing.
    expect({ isDone: code === 0 || code === 1, stderr }).toEqual({ isDone: true, stderr });
  });

  it.each(servers)("%s, until it is told to stop", async (line) => {
    const [, ...words] = line.replace(/ --port \d+/, "").split(" ");
    const { child, done } = spawnCli([...words, "--port", "0"], exampleFolder());
    child.stdout?.once("data", () => child.kill("SIGTERM"));
    expect(await done).toMatchObject({ code: 0 });
  });
});
