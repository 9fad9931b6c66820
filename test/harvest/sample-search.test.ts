import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_LINE_BYTES } from "../../src/bytes/lines.ts";
import type { SampleSearchOptions, SampleSearchSummary } from "../../src/harvest/sample-search.ts";
import { foundLine, parseSearchAnswer, sampleSearch } from "../../src/harvest/sample-search.ts";
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

/** A search that fails for good at some of its requests, counted from 1, and a file to sample into. */
async function sampling(
  failsAt: readonly number[] = [],
  fail: (response: ServerResponse) => void = (response) => void response.writeHead(403).end(),
) {
  const asked: string[] = [];
  let requests = 0;
  const server = await serveOnLoopback((url, response) => {
    if (failsAt.includes(++requests)) return fail(response);
    const word = url.searchParams.get("q") ?? "";
    asked.push(word);
    response.end(results(word));
  });
  const api = `${server}/search`;
  const folder = scratchDir();
  const target = join(folder, "sample.cdxj");
  return {
    api,
    asked,
    folder,
    target,
    run: (options: Partial<SampleSearchOptions> = {}) =>
      sampleSearch(api, target, { ...OPTIONS, ...options }),
    /** What was found; the address is that of another server. */
    text: () => readFileSync(target, "utf8").replace(/"source":"[^"]*"/, '"source":""'),
  };
}

/** What a sample without a stop finds. */
async function unstopped(
  options: Partial<SampleSearchOptions> = {},
): Promise<{ text: string; asked: string[] }> {
  const { run, text, asked } = await sampling();
  await run(options);
  return { text: text(), asked };
}

/** A sample that was begun and got a few of the words. */
async function begun(failsAt = 4): ReturnType<typeof sampling> {
  const sample = await sampling([failsAt]);
  await expect(sample.run()).rejects.toThrow("403");
  return sample;
}

const MAX_FAILURES = 5;

describe("sampleSearch", () => {
  it("goes on after any failure, and finds what it would have found without", async () => {
    const whole = await unstopped();
    expect(whole.asked).toHaveLength(12);
    const failing = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: MAX_FAILURES });
    await fc.assert(
      fc.asyncProperty(failing, async (failsAt) => {
        const { asked, folder, run, target, text } = await sampling(failsAt);
        const failures: [error: string, hasIndex: boolean][] = [];
        let resumedLines = 0;
        let summary: SampleSearchSummary | undefined;
        for (let tries = 0; summary === undefined; tries++) {
          summary = await run().catch((error: unknown) => {
            if (tries > MAX_FAILURES) throw error;
            failures.push([String(error), existsSync(target)]);
            const part = existsSync(`${target}.part`) ? readFileSync(`${target}.part`, "utf8") : "";
            resumedLines = Math.max(0, part.split("\n").length - 2);
            return undefined;
          });
        }
        for (const failure of failures) {
          expect(failure).toEqual([expect.stringContaining("answered 403"), false]);
        }
        expect(text()).toBe(whole.text);
        expect(asked).toEqual(whole.asked);
        const lines = whole.text.split("\n").length - 2;
        expect(summary).toMatchObject({ searches: 12, leftOut: 12, resumedLines, lines });
        expect(readdirSync(folder)).toEqual(["sample.cdxj"]);
      }),
      { numRuns: 20 },
    );
  });

  it("goes on behind the last whole search after a process was killed", async () => {
    const { run, target, text } = await begun(6);
    appendFileSync(`${target}.part`, "half a li");
    await run();
    expect(text()).toBe((await unstopped()).text);
  });

  it("leaves nothing behind where no search was answered", async () => {
    expect(readdirSync((await begun(1)).folder)).toEqual([]);
  });

  it.each<[string, Partial<SampleSearchOptions>]>([
    ["seed", { seed: 8 }],
    ["words", { words: ["mar"] }],
    ["first date", { from: "2008" }],
    ["last date", { to: "2008" }],
    ["number of results", { resultsPerSearch: 10 }],
  ])("does not go on with another %s", async (_what, others) => {
    const { run, target } = await begun();
    await expect(run(others)).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/^belongs to another harvest; use another -o/) as string,
      position: { source: `${target}.part.json` },
    });
    // Nor does anything become of what was found.
    expect(await run()).toMatchObject({ searches: 12 });
  });

  it("goes on to more searches than were asked for first, not to fewer than were made", async () => {
    const { run, text } = await begun(6);
    await expect(run({ searches: 4 })).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(
        /^5 searches have already been made for this file; /,
      ) as string,
    });
    await run({ searches: 15 });
    expect(text()).toBe((await unstopped({ searches: 15 })).text);
  });

  it.each([
    ["<html>please wait</html>", "MM_BAD_INPUT"],
    ['{"response_items": "none"}', "MM_BAD_INPUT"],
    ["", "MM_BAD_INPUT"],
  ])("stops at an answer that is none, and goes on when it is: %j", async (answer, code) => {
    const { run, text } = await sampling([5], (response) => void response.end(answer));
    await expect(run()).rejects.toMatchObject({ code });
    await run();
    expect(text()).toBe((await unstopped()).text);
  });

  it("ends when all words it knows were searched for", async () => {
    const api = await serveOnLoopback((_url, response) => response.end('{"response_items": []}'));
    const target = join(scratchDir(), "sample.cdxj");
    const summary = await sampleSearch(api, target, OPTIONS);
    expect(summary).toMatchObject({ searches: 2, lines: 0, requests: 2 });
    expect(readFileSync(target, "utf8")).toMatch(/^!meta \{"sample":true,.*\}\n$/);
  });

  it("keeps no password in the index", async () => {
    const { api, folder } = await sampling();
    const target = join(folder, "sample.cdxj.gz");
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
    expect(other.stderr).toMatch(/belongs to another harvest; use another -o, or remove the .part/);
    const { code, stderr } = await runCli(command("a.cdxj"));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\d+ captures, \d+ of them before, 6 searches, .*, 3 requests\n$/);
    expect(await runCli(command("b.cdxj"))).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "a.cdxj"))).toEqual(readFileSync(join(folder, "b.cdxj")));
    expect(readdirSync(folder).toSorted()).toEqual(["a.cdxj", "b.cdxj"]);
  });
});

const ITEM = {
  title: "O mar",
  snippet: "<em>mar</em> &amp; <b class='x'>sol</b>",
  originalURL: "http://a.pt/x",
  tstamp: "20080101000000",
  mimeType: "text/html",
  statusCode: 200,
};

function answerOf(...items: unknown[]): string {
  return JSON.stringify({ response_items: items });
}

describe("parseSearchAnswer", () => {
  it("finds captures, and the text about them without marks", () => {
    const { captures, leftOut } = parseSearchAnswer(answerOf(ITEM), "test");
    expect(leftOut).toBe(0);
    expect(captures).toEqual([
      {
        uri: "http://a.pt/x",
        date: "20080101000000",
        mime: "text/html",
        status: "200",
        text: expect.stringMatching(/^O mar +mar +sol +$/) as string,
      },
    ]);
  });

  it.each([
    [{ ...ITEM, originalURL: undefined }],
    [{ ...ITEM, originalURL: " \n" }],
    [{ ...ITEM, originalURL: ["http://a.pt/"] }],
    [{ ...ITEM, originalURL: `http://a.pt/${"x".repeat(16_400)}` }],
    [{ ...ITEM, tstamp: "2008" }],
    [{ ...ITEM, tstamp: null }],
    [null],
    ["http://a.pt/"],
    [[ITEM]],
  ])("leaves out what is of no use, and counts it", (item) => {
    const { captures, leftOut } = parseSearchAnswer(answerOf(item, ITEM), "test");
    expect([captures.length, leftOut]).toEqual([1, 1]);
  });

  it.each(["", "<html>", "[]", "null", '{"response_items": {}}', '{"response_items": [', "7"])(
    "refuses %j",
    (text) => {
      expect(() => parseSearchAnswer(text, "test")).toThrow(
        expect.objectContaining({ code: "MM_BAD_INPUT", position: { source: "test" } }),
      );
    },
  );

  it("takes anything that has items, and makes lines of it that can be read", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text)), (rows) => {
        const all = rows.map(([originalURL, mimeType, statusCode]) => ({
          ...ITEM,
          originalURL,
          mimeType,
          statusCode,
        }));
        const { captures, leftOut } = parseSearchAnswer(answerOf(...all), "test");
        expect(captures.length + leftOut).toBe(rows.length);
        for (const capture of captures) expect(foundLine(capture)).toMatch(LINE);
      }),
    );
  });

  it("makes no line that is too long", () => {
    const long = "\u0001\uffff".repeat(50_000);
    const uri = `http://a.pt/${"\uffff".repeat(16_000)}`;
    const item = { ...ITEM, originalURL: uri, mimeType: long, statusCode: long, title: long };
    const [capture] = parseSearchAnswer(answerOf(item), "test").captures;
    expect(new TextEncoder().encode(foundLine(capture)).length).toBeLessThan(MAX_LINE_BYTES);
    expect(capture.text.length).toBeLessThan(40_000);
  });
});

/** A key without blanks, a date and an object, all in one line. */
const LINE = /^\S+ \d{14} \{"url":[^\n\r]*\}$/;
