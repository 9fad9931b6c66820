import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { serveOnLoopback } from "../support/http-server.ts";
import { scratchDir } from "../support/scratch.ts";
import { type ProcessResult, spawnCli } from "../support/spawn-cli.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

/** Long enough for a busy machine; what hung took hours. */
const LONGEST_MS = 30_000;
const MAP_HEAD =
  '!context ["https://git.io/mementomap"]\n!fields {"keys":["surt"],"values":["frequency"]}\n';

/** Runs a command of 256 MB of heap on these files; ends it when it takes too long. */
async function run(
  argv: readonly string[],
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<ProcessResult & { readonly folder: string }> {
  const folder = scratchDir();
  for (const [name, data] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), data);
  }
  const env = { NODE_OPTIONS: "--max-old-space-size=256" };
  const began = performance.now();
  const { child, done } = spawnCli(argv, folder, env);
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  const result = await done;
  clearTimeout(timer);
  const ms = Math.round(performance.now() - began);
  process.stdout.write(`attack: ${argv.join(" ").slice(0, 60)}: status ${result.code}, ${ms} ms\n`);
  expect(result.signal).toBeNull();
  expect(result.stderr).not.toMatch(/should not have happened|heap out of memory/);
  return { ...result, folder };
}

describe("lines of 200 kB are read in linear time", () => {
  const brackets = `a a ${"[".repeat(200_000)}\n`;
  const header = `${MAP_HEAD}!a${" ".repeat(200_000)}x\v\ncom,a)/ 1\n`;
  const quotes = `${MAP_HEAD}com,a)/ 1 {a:"${'\\"'.repeat(100_000)}"\n`;
  const uris = `"GET /memento/${"/://".repeat(50_000)}\n`;
  const labels = `${"a.".repeat(100_000)} b\n`;
  const archives = JSON.stringify([{ id: "a", timemap: "http://127.0.0.1:1/" }]);
  it.each([
    ["generate", ["generate", "in", "-o", "map.ukvs"], brackets],
    ["analyze", ["analyze", "in"], brackets],
    ["lookup --batch", ["lookup", "map", "--batch", "in"], brackets],
    ["lookup", ["lookup", "in", "http://a.com/"], header],
    ["merge", ["merge", "in", "-o", "map.ukvs"], header],
    ["validate", ["validate", "in"], header],
    ["diff", ["diff", "in", "map"], quotes],
    ["simulate, URIs", ["simulate", "--archives", "list", "--lookups", "in"], uris],
    ["simulate, labels", ["simulate", "--archives", "list", "--lookups", "in"], labels],
    ["lookup --batch, labels", ["lookup", "map", "--batch", "in"], labels],
  ])("%s", async (_name, argv, text) => {
    const map = `${MAP_HEAD}com,a)/ 1\n`;
    const { code } = await run(argv, { in: text, map, list: archives });
    expect([0, 1, 2]).toContain(code);
  });
});

it("a WACZ with 8,000 entries takes memory in proportion", async () => {
  const entries = Array.from({ length: 8000 }, (_, number) => ({
    name: `archive/${number}.warc.gz`,
    data: new Uint8Array(),
  }));
  const { code } = await run(["generate", "in.wacz", "-o", "map.ukvs"], {
    "in.wacz": zipFile(entries),
  });
  expect([0, 2]).toContain(code);
});

it.each(["../private/hidden.cdxj.gz", "..\\hidden", "/etc/passwd"])(
  "a ZipNum index reads no file outside its folder: %s",
  async (part) => {
    const { data, index } = zipNum(["org,secret)/private 20200101000000 {}"], 1, part);
    const files = { "private/hidden.cdxj.gz": data, "cluster/index.idx": index };
    const { code, stderr } = await run(["generate", "cluster/index.idx", "-o", "map.ukvs"], files);
    expect(code).toBe(2);
    expect(stderr).toContain("index.idx");
  },
);

it.each([
  ["a line of an index", ["generate", "in"], "bad \u009b31m\u202eline\u001b[2J\n"],
  [
    "a URI of a batch",
    ["lookup", "map", "--batch", "in"],
    "http://a.com/\u009b31m\u202e\u001b[2J\n",
  ],
  [
    "the name in a map",
    ["validate", "in"],
    `${MAP_HEAD}!meta {"name":"\u001b[2J\u202e"}\nb 1\na 1\n`,
  ],
])("terminals get no control characters: %s", async (_name, argv, text) => {
  const { stdout, stderr } = await run(argv, { in: text, map: `${MAP_HEAD}com,a)/ 1\n` });
  expect(stdout + stderr).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u);
});

it("nested JSON has a depth", async () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const { code } = await run(["generate", "deep.json", "-o", "map.ukvs"], { "deep.json": deep });
  expect(code).toBe(2);
  const map = `${MAP_HEAD}!meta {"name":${deep}}\ncom,a)/ 1\n`;
  expect([0, 2]).toContain((await run(["pack", "map", "-o", "out"], { map })).code);
});

it("what is fetched with a password shows it nowhere, and notes are for their owner", async () => {
  const url = await serveOnLoopback((_url, response) => {
    response.writeHead(200, { "Content-Type": "text/plain", ETag: '"1"' });
    response.end(`${MAP_HEAD}com,a)/ 1\n`);
  });
  const address = `${url.replace("//", "//me:s3cret@")}/map.ukvs`;
  const { folder, stdout, stderr } = await run(["fetch", address, "-o", "map.ukvs"], {});
  const note = join(folder, ".map.ukvs.fetch.json");
  expect(stdout + stderr).not.toContain("s3cret");
  expect(statSync(note).mode & 0o077).toBe(0);
});

it("logs of lookups are for their owner", async () => {
  const folder = scratchDir();
  chmodSync(folder, 0o755);
  const list = join(folder, "archives.json");
  writeFileSync(list, JSON.stringify([{ id: "a", timemap: "http://127.0.0.1:1/" }]));
  const log = join(folder, "log");
  const argv = ["aggregate", "-a", list, "--log", log, "http://example.org/"];
  const { done } = spawnCli(argv);
  await done;
  expect(statSync(log).mode & 0o027).toBe(0);
});

it("a gzip file that unpacks to 1 GB in one line is refused, or read in bounded memory", async () => {
  const part = gzipSync("a".repeat(10_000_000));
  const bomb = Buffer.concat(Array.from({ length: 100 }, () => part));
  const { code } = await run(["generate", "in.gz", "-o", "map.ukvs"], { "in.gz": bomb });
  expect(code).toBe(2);
});
