import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeList } from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { digestOf, type Inputs, makeInputs } from "./jobs.ts";
import { run, start } from "./process.ts";

let inputs: Inputs;
let indexes: string[];

beforeAll(async () => {
  inputs = await makeInputs(30_000);
  const folder = join(inputs.folder, "many");
  mkdirSync(folder);
  const lines = readFileSync(inputs.index, "utf8").split("\n");
  indexes = Array.from({ length: 60 }, (_, i) => {
    const path = join(folder, `${i}.cdxj`);
    writeFileSync(path, `${lines.slice(i * 100, i * 100 + 100).join("\n")}\n`);
    return path;
  });
});

afterAll(() => inputs.close());

const FEW_FILES = "ulimit -n 32";

describe.skipIf(process.platform === "win32")("32 open files", () => {
  it.each([
    ["many inputs", () => ["generate", "-q", ...indexes]],
    [
      "many runs",
      () => [
        "generate",
        "-q",
        "--threads",
        "1",
        "--memory",
        "1m",
        "--by",
        "datetime:day",
        inputs.index,
        inputs.otherIndex,
      ],
    ],
    ["compact", () => ["compact", "-q", inputs.map]],
    ["pages", () => ["split", "-q", "--pages", "100", inputs.map]],
    ["analyze", () => ["analyze", "-q", "--memory", "1m", inputs.index]],
  ])("are enough: %s", async (_name, argv) => {
    const folder = scratchDir();
    const [few, many] = [join(folder, "few"), join(folder, "many")];
    const to = (path: string): string[] =>
      argv()[0] === "analyze" ? [...argv(), "--html", path] : [...argv(), "-o", path];
    expect(await run(to(many))).toMatchObject({ code: 0 });
    expect(await run(to(few), { under: FEW_FILES })).toMatchObject({ code: 0, stderr: "" });
    expect(digestOf(many)).not.toBe("nothing");
    expect(digestOf(few)).toBe(digestOf(many));
  });

  it("are too few for 60 maps at once, which is said", async () => {
    const folder = scratchDir();
    const maps = Array.from({ length: 60 }, (_, i) => join(folder, `${i}.ukvs`));
    for (const path of maps) cpSync(inputs.small.map, path);
    const target = join(folder, "merged");
    const expected = {
      code: 2,
      stderr: expect.stringMatching(
        /too many open files; raise the limit \(ulimit -n\) \[MM_IO\]\n$/,
      ),
    };
    expect(await run(["merge", "-q", ...maps, "-o", target], { under: FEW_FILES })).toMatchObject(
      expected,
    );
    expect(readdirSync(folder)).toHaveLength(60);
    expect(await run(["merge", "-q", ...maps, "-o", target])).toMatchObject({ code: 0 });
  });

  it("do not end an aggregator of many archives with many clients", async () => {
    const archives = await Promise.all(
      Array.from({ length: 12 }, (_, i) => plainArchive(`a${i}`, ["20010101000000"])),
    );
    const { child, ended } = start(
      ["aggregate", "--serve", "--port", "0", "-a", writeList(archives)],
      { under: "ulimit -n 40" },
    );
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
      void ended.then(({ stderr }) => reject(new Error(stderr)));
    });
    // Not fetch, which waits forever for some connections that are closed at once.
    const agent = new Agent({ keepAlive: true });
    const ask = (page: number): Promise<number> =>
      new Promise((resolve) => {
        get(`${url}/timemap/link/http://b.test/${page}`, { agent }, (response) => {
          response.resume().once("close", () => resolve(response.statusCode ?? 0));
        }).once("error", () => resolve(0));
      });
    const began = performance.now();
    const statuses = await Promise.all(Array.from({ length: 60 }, (_, page) => ask(page)));
    expect(statuses).toContain(200);
    expect(await ask(1000)).toBe(200);
    // Not when connections without a request are closed, which takes longer.
    expect(performance.now() - began).toBeLessThan(9000);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe.skipIf(process.platform === "win32")("32 open files of a publisher", () => {
  it("do not end it, and the map arrives whole when clients have left", async () => {
    const { child, ended } = start(["serve", inputs.map, "--port", "0"], { under: FEW_FILES });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
      void ended.then(({ stderr }) => reject(new Error(stderr)));
    });
    const map = readFileSync(inputs.map, "utf8");
    // Not fetch, for the same reason as above.
    const ask = (): Promise<string> =>
      new Promise((resolve) => {
        get(`${url}/.well-known/mementomap`, { agent: false }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => (text += part));
          response.once("close", () => {
            const isWhole = response.complete && response.statusCode === 200;
            resolve(isWhole ? text : "turned away");
          });
        }).once("error", () => resolve("turned away"));
      });
    const answers = new Set(await Promise.all(Array.from({ length: 60 }, ask)));
    // Nobody gets a part that could pass for the whole.
    expect([...answers].filter((answer) => answer !== map && answer !== "turned away")).toEqual([]);
    await until(async () => (await ask()) === map);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe.skipIf(process.platform === "win32")("a limit of the size of files", () => {
  it.each([
    "generate -q INDEX -o OUT",
    "generate -q --threads 3 --memory 1m --by datetime:day --tmp TMP INDEX OTHER -o OUT",
    "compact -q --max-bytes 300k --tmp TMP MAP -o OUT",
    "merge -q MAP OTHERMAP -o OUT",
    "analyze -q --memory 1m --tmp TMP INDEX --html OUT",
  ])("is named, and nothing is left behind: %s", async (line) => {
    const folder = scratchDir();
    const tmp = join(folder, "tmp");
    mkdirSync(tmp);
    const known: Record<string, string> = {
      INDEX: inputs.index,
      OTHER: inputs.otherIndex,
      MAP: inputs.map,
      OTHERMAP: inputs.otherMap,
      TMP: tmp,
      OUT: join(folder, "out"),
    };
    const argv = line.split(" ").map((word) => known[word] ?? word);
    expect(await run(argv, { under: "ulimit -f 64" })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /larger than allowed; raise the limit \(ulimit -f\)[^\n]* \[MM_IO\]\n$/,
      ),
    });
    expect(readdirSync(folder)).toEqual(["tmp"]);
    expect(readdirSync(tmp)).toEqual([]);
  });
});
