import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import type { SampleSearchOptions, SampleSearchSummary } from "../../src/harvest/sample-search.ts";
import { sampleSearch } from "../../src/harvest/sample-search.ts";
import { Interrupt } from "../../src/interruption.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

const OPTIONS: SampleSearchOptions = {
  words: ["mar", "duas palavras"],
  searches: 12,
  seed: 7,
  intervalMs: 0,
  backOff: { retries: 1, firstMs: 1, longestMs: 1 },
};

/** Results that teach some words more than once, and name some captures more than once. */
function results(word: string): string {
  const items = ["", "a", "b"].map((end) => ({
    title: `título ${word}${end}`.slice(0, 20),
    snippet: `<em>${word}</em> ${word.slice(1)}c`,
    // A separator of lines, for some.
    originalURL: `http://${word.slice(0, 2).trim()}.pt/\u2028${end}`,
    tstamp: "20080101000000",
    mimeType: "text/html",
  }));
  return JSON.stringify({ response_items: [...items, { title: "nothing" }] });
}

/** A search that fails for good at some of its requests, counted from 1. */
async function searchServer(
  failsAt: readonly number[] = [],
  fail: (response: ServerResponse) => void = (response) => void response.writeHead(403).end(),
): Promise<{ readonly api: string; readonly asked: string[] }> {
  const asked: string[] = [];
  let requests = 0;
  const api = await serveOnLoopback((url, response) => {
    if (failsAt.includes(++requests)) return fail(response);
    const word = url.searchParams.get("q") ?? "";
    asked.push(word);
    response.end(results(word));
  });
  return { api: `${api}/search`, asked };
}

/** What a sample without a stop finds; the address is that of another server. */
async function unstopped(options: SampleSearchOptions): Promise<{ text: string; asked: string[] }> {
  const { api, asked } = await searchServer();
  const target = join(scratchDir(), "sample.cdxj");
  await sampleSearch(api, target, options);
  return { text: withoutSource(readFileSync(target, "utf8")), asked };
}

function withoutSource(text: string): string {
  return text.replace(/"source":"[^"]*"/, '"source":""');
}

const MAX_FAILURES = 5;

/** Gives the same command again until it is done. */
async function repeated(
  api: string,
  target: string,
): Promise<{ summary: SampleSearchSummary; failures: Failure[] }> {
  const failures: Failure[] = [];
  for (;;) {
    try {
      return { summary: await sampleSearch(api, target, OPTIONS), failures };
    } catch (error) {
      if (failures.length > MAX_FAILURES) throw error;
      const code = isMementoMapError(error) ? error.code : String(error);
      const part = existsSync(`${target}.part`) ? readFileSync(`${target}.part`, "utf8") : "";
      const lines = Math.max(0, part.split("\n").length - 2);
      failures.push({ code, hasIndex: existsSync(target), lines });
    }
  }
}

interface Failure {
  readonly code: string;
  readonly hasIndex: boolean;
  /** Captures that were kept. */
  readonly lines: number;
}

describe("sampleSearch", () => {
  it("goes on after any failure, and finds what it would have found without", async () => {
    const whole = await unstopped(OPTIONS);
    expect(whole.asked).toHaveLength(12);
    const failures = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: MAX_FAILURES });
    await fc.assert(
      fc.asyncProperty(failures, async (failsAt) => {
        const { api, asked } = await searchServer(failsAt);
        const target = join(scratchDir(), "sample.cdxj");
        const { summary, failures } = await repeated(api, target);
        for (const failure of failures) {
          expect(failure).toMatchObject({ code: "MM_HTTP", hasIndex: false });
        }
        const resumedLines = failures.at(-1)?.lines ?? 0;
        expect(withoutSource(readFileSync(target, "utf8"))).toBe(whole.text);
        expect(asked).toEqual(whole.asked);
        expect(summary).toMatchObject({ searches: 12, leftOut: 12, resumedLines });
        expect(summary.lines).toBe(whole.text.split("\n").length - 2);
        expect(readdirSync(join(target, ".."))).toEqual(["sample.cdxj"]);
      }),
      { numRuns: 20 },
    );
  });

  it("goes on behind the last whole search after a process was killed", async () => {
    const whole = await unstopped(OPTIONS);
    const { api } = await searchServer([6]);
    const target = join(scratchDir(), "sample.cdxj");
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toThrow("403");
    appendFileSync(`${target}.part`, "half a li");
    await sampleSearch(api, target, OPTIONS);
    expect(withoutSource(readFileSync(target, "utf8"))).toBe(whole.text);
  });

  it("leaves nothing behind where no search was answered", async () => {
    const { api } = await searchServer([1]);
    const target = join(scratchDir(), "sample.cdxj");
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toThrow("403");
    expect(readdirSync(join(target, ".."))).toEqual([]);
  });

  it.each<[string, Partial<SampleSearchOptions>]>([
    ["seed", { seed: 8 }],
    ["words", { words: ["mar"] }],
    ["first date", { from: "2008" }],
    ["last date", { to: "2008" }],
    ["number of results", { resultsPerSearch: 10 }],
  ])("does not go on with another %s", async (_what, others) => {
    const { api } = await searchServer([4]);
    const target = join(scratchDir(), "sample.cdxj");
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toThrow("403");
    await expect(sampleSearch(api, target, { ...OPTIONS, ...others })).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/^is of another harvest; give another -o/) as string,
      position: { source: `${target}.part.json` },
    });
    // Nor does anything become of what was found.
    expect(await sampleSearch(api, target, OPTIONS)).toMatchObject({ searches: 12 });
  });

  it("goes on to more searches than were asked for first, not to fewer than were made", async () => {
    const more = await unstopped({ ...OPTIONS, searches: 15 });
    const { api } = await searchServer([6]);
    const target = join(scratchDir(), "sample.cdxj");
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toThrow("403");
    await expect(sampleSearch(api, target, { ...OPTIONS, searches: 4 })).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/^was begun, and 5 searches were made for it; /) as string,
    });
    await sampleSearch(api, target, { ...OPTIONS, searches: 15 });
    expect(withoutSource(readFileSync(target, "utf8"))).toBe(more.text);
  });

  it.each<[string, (target: string) => void, RegExp]>([
    [
      "words are none",
      (target) => {
        const text = readFileSync(`${target}.part.json`, "utf8");
        writeFileSync(`${target}.part.json`, text.replace('"words":[', '"words":[1,'));
      },
      /^is damaged; /,
    ],
    ["captures are gone", (target) => rmSync(`${target}.part`), /^is gone, which has the beg/],
  ])("says that it cannot go on where the %s", async (_what, damage, message) => {
    const { api } = await searchServer([4]);
    const target = join(scratchDir(), "sample.cdxj");
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toThrow("403");
    damage(target);
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    ["<html>please wait</html>", "MM_BAD_INPUT"],
    ['{"response_items": "none"}', "MM_BAD_INPUT"],
    ["", "MM_BAD_INPUT"],
  ])("stops at an answer that is none, and goes on when it is: %j", async (text, code) => {
    const whole = await unstopped(OPTIONS);
    const { api } = await searchServer([5], (response) => void response.end(text));
    const target = join(scratchDir(), "sample.cdxj");
    await expect(sampleSearch(api, target, OPTIONS)).rejects.toMatchObject({ code });
    await sampleSearch(api, target, OPTIONS);
    expect(withoutSource(readFileSync(target, "utf8"))).toBe(whole.text);
  });

  it("ends when all words it knows were searched for", async () => {
    const api = await serveOnLoopback((_url, response) => response.end('{"response_items": []}'));
    const target = join(scratchDir(), "sample.cdxj");
    const summary = await sampleSearch(api, target, OPTIONS);
    expect(summary).toMatchObject({ searches: 2, lines: 0, requests: 2 });
    expect(readFileSync(target, "utf8")).toMatch(/^!meta \{"sample":true,.*\}\n$/);
  });

  it("keeps no password in the index", async () => {
    const { api } = await searchServer();
    const target = join(scratchDir(), "sample.cdxj.gz");
    await sampleSearch(api.replace("//", "//me:secret@"), target, OPTIONS);
    const [meta] = gunzipSync(readFileSync(target)).toString().split("\n");
    expect(meta).toBe(`!meta ${JSON.stringify({ sample: true, source: api })}`);
  });
});

describe("mementomap harvest --search", () => {
  it("samples a full-text search with words it learns, the same for the same seed", async () => {
    const asked: string[] = [];
    const api = await serveOnLoopback((url, response) => {
      const word = url.searchParams.get("q") ?? "";
      asked.push(word);
      expect(url.searchParams.get("from")).toBe("2008");
      expect(url.searchParams.get("to")).toBe("2009");
      const item = {
        title: `título ${word}a`,
        snippet: `<em>${word}</em> ${word}b &amp; xy`,
        originalURL: `http://${word}.pt/`,
        tstamp: "20080101000000",
        mimeType: "text/html",
      };
      response.end(JSON.stringify({ response_items: [item, item, { title: "nothing" }] }));
    });
    const folder = scratchDir();
    const run = async (name: string, seed: string): Promise<string> => {
      const path = join(folder, name);
      const words = ["--search", "mar", "--searches", "6", "--seed", seed, "--interval", "0"];
      const span = ["--from", "2008", "--to", "2009"];
      const result = await runCli(["harvest", api, ...words, ...span, "-o", path]);
      expect(result).toMatchObject({
        code: 0,
        stderr: "6 captures, 6 searches, 6 results of no use, 6 requests\n",
      });
      return readFileSync(path, "utf8");
    };
    const first = await run("a.cdxj", "7");
    expect(new Set(asked).size).toBe(6);
    expect(asked[0]).toBe("mar");
    expect(await run("b.cdxj", "7")).toBe(first);
    expect(await run("c.cdxj", "8")).not.toBe(first);
    const { stdout } = await runCli([
      "generate",
      "-q",
      "--threads",
      "1",
      join(folder, "a.cdxj"),
      join(folder, "b.cdxj"),
    ]);
    const rows = stdout.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
    expect(rows).toHaveLength(6);
    expect(rows.every((row) => row.endsWith(" 1+"))).toBe(true);
  });

  it("goes on with the same command after it was stopped", async () => {
    const interrupt = new Interrupt();
    let requests = 0;
    const api = await serveOnLoopback((url, response) => {
      // Stopped while the fourth answer is waited for.
      if (++requests === 4) interrupt.trigger("SIGINT");
      else response.end(results(url.searchParams.get("q") ?? ""));
    });
    const folder = scratchDir();
    const command = (name: string): string[] => {
      const words = ["--search", "mar", "--searches", "6", "--interval", "0", "-o"];
      return ["harvest", api, ...words, join(folder, name)];
    };
    const stopped = await runCli(command("a.cdxj"), { interrupt });
    expect(stopped).toMatchObject({ code: 130, stdout: "" });
    expect(readdirSync(folder).toSorted()).toEqual(["a.cdxj.part", "a.cdxj.part.json"]);
    const other = await runCli([...command("a.cdxj"), "--seed", "2"]);
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/is of another harvest; give another -o, or remove the files/);
    const { code, stderr } = await runCli(command("a.cdxj"));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\d+ captures, \d+ of them before, 6 searches, .*, 3 requests\n$/);
    expect(await runCli(command("b.cdxj"))).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "a.cdxj"))).toEqual(readFileSync(join(folder, "b.cdxj")));
    expect(readdirSync(folder).toSorted()).toEqual(["a.cdxj", "b.cdxj"]);
  });
});
