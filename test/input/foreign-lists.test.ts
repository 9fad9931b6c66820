import { join } from "node:path";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const ROWS = Array.from({ length: 60 }, (_, i) => `com,a)/x/${100 + i} 1\n`).join("");
const STAMP = "2016/06/09 12:00:00.123456";
const LOG = [
  "Aggregating Mementos for http://a.com/new/1",
  "ia => Response error: 404 Not Found",
  "Aggregating Mementos for http://a.com/x/100",
  "ia => Success: 2 mementos",
  "Aggregating Mementos for http://b.org/2",
  "ia => Response error: 404 Not Found",
]
  .map((line) => `INFO: ${STAMP} ${line}\n`)
  .join("");

/** What people give by mistake in place of a list of URIs. */
const FOREIGN: Readonly<Record<string, string | Uint8Array>> = {
  "timestamps.txt": "20150101000000\n20150102000000\n",
  "timed.tsv": "2017-06-01T10:11:12Z\thttp://a.com/\n",
  "memgator.log": LOG,
  "prose.txt": "This is prose.\nIt says nothing about URIs.\n",
  "page.html": "<!doctype html>\n<html><body>http://a.com/</body></html>\n",
  "empty.txt": "",
  "comments.txt": "# nothing\n\n",
  "binary.bin": gzipSync("http://a.com/\n").subarray(3),
  "map.ukvs": `${HEAD}com,a)/ 1\n`,
  "compacted.txt": "com,a)/* 12\n",
  "records.json": '{"url":"http://a.com/"}\n',
};

let folder = "";
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = folderWith({
    ...FOREIGN,
    "truth.ukvs": HEAD + ROWS,
    "small.ukvs": `${HEAD}com,a)/x/* 60\n`,
    "uris.txt": "http://a.com/x/100\nhttp://a.com/new\n",
  });
});

describe.each(Object.keys(FOREIGN))("%s in place of a list of URIs", (name) => {
  it.each(["--lookups", "--future"])("is refused by evaluate %s", async (option) => {
    const lists = { "--lookups": at("uris.txt"), [option]: at(name) };
    const args = ["evaluate", at("small.ukvs"), "--truth", at("truth.ukvs")];
    const { code, stdout, stderr } = await runCli([...args, ...Object.entries(lists).flat()]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(at(name));
    expect(stderr).toMatch(/\[MM_BAD_INPUT\]/);
  });

  it.skipIf(name === "memgator.log")("is refused by compact --misses", async () => {
    const args = ["compact", "--max-lines", "20", at("truth.ukvs"), "--misses", at(name)];
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/\[MM_BAD_INPUT\]/);
  });
});

describe("a MemGator log as --misses", () => {
  it("gives the map that its misses give as a list", async () => {
    const budget = ["--max-lines", "20", "-o", "-", "-q"];
    const made = async (misses: string, ...more: string[]): Promise<string> => {
      const args = ["compact", at("truth.ukvs"), ...budget, "--misses", misses, ...more];
      const { code, stdout, stderr } = await runCli(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return stdout;
    };
    const lists = folderWith({ "misses.txt": "http://a.com/new/1\nhttp://b.org/2\n" });
    const listed = await made(join(lists, "misses.txt"));
    expect(await made(at("memgator.log"))).toBe(listed);
    expect(await made(at("memgator.log"), "--archive", "ia")).toBe(listed);
  });

  it("has to say whose misses, and must have some", async () => {
    const logs = folderWith({
      "two.log": LOG.replace("ia => Success", "pt => Success"),
      "hits.log": LOG.split("\n").slice(2, 4).join("\n"),
    });
    const run = async (name: string, ...more: string[]): Promise<string> => {
      const misses = ["--misses", join(logs, name), ...more];
      const result = await runCli(["compact", at("truth.ukvs"), "--max-lines", "20", ...misses]);
      expect(result.code).toBe(2);
      return result.stderr;
    };
    expect(await run("two.log")).toMatch(/several archives, including "ia" and "pt".*--archive/);
    expect(await run("two.log", "--archive", "uk")).toMatch(/no archive "uk"/);
    expect(await run("hits.log")).toMatch(/no miss of "ia".*\[MM_BAD_INPUT\]/);
  });
});

describe("a list of what is held as --misses", () => {
  it("teaches nothing, and compact says so", async () => {
    const held = Array.from({ length: 60 }, (_, i) => `http://a.com/x/${100 + i}\n`).join("");
    const lists = folderWith({ "held.txt": held, "misses.txt": "http://a.com/x/7\n" });
    const compact = (name: string): ReturnType<typeof runCli> =>
      runCli([
        "compact",
        at("truth.ukvs"),
        "--max-lines",
        "20",
        "-q",
        "--misses",
        join(lists, name),
      ]);
    expect((await compact("held.txt")).stderr).toMatch(
      /^mementomap: warning: .*held\.txt: no effect, .*\n$/,
    );
    expect((await compact("misses.txt")).stderr).toBe("");
  });
});

describe("--misses of evaluate", () => {
  it("is refused where nothing is trained on it", async () => {
    const args = ["evaluate", at("small.ukvs"), "--truth", at("truth.ukvs")];
    const lists = ["--lookups", at("uris.txt"), "--misses", at("uris.txt")];
    const { code, stderr } = await runCli([...args, ...lists]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--misses requires --sweep frontier"),
    });
  });
});

describe("a batch", () => {
  it.each(["timestamps.txt", "memgator.log", "page.html", "binary.bin", "map.ukvs"])(
    "that is %s is refused by lookup and by surt",
    async (name) => {
      const lookup = await runCli(["lookup", at("truth.ukvs"), "--batch", at(name)]);
      expect({ code: lookup.code, stdout: lookup.stdout }).toEqual({ code: 2, stdout: "" });
      expect(lookup.stderr).toMatch(/expected a list of URIs.*\[MM_BAD_INPUT\]/);
      const surt = await runCli(["surt"], { stdin: readFileSync(at(name)) });
      expect({ code: surt.code, stdout: surt.stdout }).toEqual({ code: 2, stdout: "" });
    },
  );

  it("of prose is answered with a warning", async () => {
    const { stderr } = await runCli(["lookup", at("truth.ukvs"), "--batch", at("prose.txt")]);
    expect(stderr).toMatch(/warning: .*"This is prose\." is neither a URI nor a SURT/);
  });
});

describe("a list taken from a log", () => {
  it("may have one odd line in a hundred", async () => {
    const uris = Array.from({ length: 120 }, (_, i) => `http://a.com/x/${100 + i}\n`).join("");
    const lists = folderWith({ "few.txt": `${uris}localhost\n`, "many.txt": `${uris}a b\nc d\n` });
    const run = (name: string) =>
      runCli(
        `evaluate ${at("small.ukvs")} --truth ${at("truth.ukvs")} --lookups ${join(lists, name)} --json`.split(
          " ",
        ),
      );
    const few = await run("few.txt");
    expect(few.code).toBe(0);
    expect(JSON.parse(few.stdout)).toMatchObject({ lookups: 120 });
    const many = await run("many.txt");
    expect(many.code).toBe(2);
    expect(many.stderr).toMatch(/neither a URI nor a SURT: .*"a b.*many\.txt","line":121/);
  });

  it.each([
    "compact TRUTH --max-lines 20 --misses LIST",
    "evaluate --sweep frontier --truth TRUTH --lookups URIS --misses LIST",
    "evaluate SMALL --truth TRUTH --lookups LIST",
    "evaluate SMALL --truth TRUTH --lookups URIS --future LIST",
  ])("has its odd lines counted: %s", async (line) => {
    const uris = Array.from({ length: 240 }, (_, i) => `http://a.com/new/${i}\n`).join("");
    const lists = folderWith({ "odd.txt": `localhost\n${uris}a b\n`, "even.txt": uris });
    const run = (list: string, ...more: string[]) => {
      const names = { TRUTH: at("truth.ukvs"), SMALL: at("small.ukvs"), URIS: at("uris.txt") };
      const known: Record<string, string> = { ...names, LIST: join(lists, list) };
      return runCli([...line.split(" ").map((word) => known[word] ?? word), ...more]);
    };
    const warning = "mementomap: warning: skipped 2 lines that are neither URIs nor SURTs\n";
    const odd = await run("odd.txt");
    expect(odd).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
    const even = await run("even.txt");
    expect(even.stderr).not.toContain("warning");
    expect(odd.stdout.replaceAll("odd.txt", "even.txt")).toBe(even.stdout);
    expect((await run("odd.txt", "-q")).stderr).toBe(warning);
  });

  it("is counted in the summary of compact for programs", async () => {
    const uris = Array.from({ length: 120 }, (_, i) => `http://a.com/new/${i}\n`).join("");
    const lists = folderWith({ "odd.txt": `localhost\n${uris}` });
    const args = ["compact", at("truth.ukvs"), "--max-lines", "20", "--json"];
    const { stderr } = await runCli([...args, "--misses", join(lists, "odd.txt")]);
    expect(JSON.parse(stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({ oddLines: 1 });
  });
});
