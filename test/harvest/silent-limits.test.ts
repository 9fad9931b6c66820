import { existsSync, readdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HarvestSummary } from "../../src/harvest/harvest-index.ts";
import { runCli } from "../support/run-cli.ts";
import { harvesting, isProbe } from "./harvesting.ts";

/** What a CDX server goes by, besides `url`. */
interface Manner {
  /** Sends this many rows at most, and does not say so. */
  readonly cap: number;
  readonly limit: boolean;
  readonly times: boolean;
  readonly reverse: boolean;
  /** Answers 400 to what it does not go by, as OutbackCDX does; else ignores it. */
  readonly complains?: boolean | undefined;
}

const PYWB = { limit: true, times: true, reverse: true };

/** The answer of a server without pages: rows of one host, `key SP datetime SP …`. */
function answer(
  rows: readonly string[],
  { searchParams }: URL,
  manner: Manner,
): string | undefined {
  if (searchParams.get("url") !== "a.com") return "";
  const [from, to] = [searchParams.get("from"), searchParams.get("to")];
  const isReverse = searchParams.get("sort") === "reverse";
  const isComplaint =
    (!manner.times && (from !== null || to !== null)) || (!manner.reverse && isReverse);
  if (isComplaint && manner.complains === true) return undefined;
  let found = [...rows];
  if (manner.times) {
    const time = (row: string): string => row.split(" ")[1] ?? "";
    if (from !== null) found = found.filter((row) => time(row) >= from);
    if (to !== null) found = found.filter((row) => time(row) <= to.padEnd(14, "9"));
  }
  if (isReverse && manner.reverse) found.reverse();
  const limit = manner.limit ? Number(searchParams.get("limit") ?? Infinity) : Infinity;
  return found
    .slice(0, Math.min(limit, manner.cap))
    .map((row) => `${row}\n`)
    .join("");
}

const DOMAIN = [{ url: "a.com", match: "domain" as const }];
const ONE_TRY = { backOff: { retries: 1, firstMs: 1, longestMs: 1 } };

async function harvest(
  rows: readonly string[],
  manner: Manner,
): Promise<{ readonly summary: HarvestSummary; readonly text: string; readonly asked: URL[] }> {
  const { asked, folder, run, text } = await harvesting(
    (url, _turn, response) =>
      answer(rows, url, manner) ?? response.writeHead(400).end("not implemented"),
  );
  const summary = await run(ONE_TRY, DOMAIN);
  expect(readdirSync(folder)).toEqual(["index.cdx"]);
  return { summary, text: text(), asked };
}

/** Rows in the order of an index. */
function makeRows(count: number, keys: number, seconds: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const key = String(i % keys).padStart(5, "0");
    const date = new Date(Date.UTC(2012, 0, 1) + (i % seconds) * 40_000_000);
    const datetime = date.toISOString().replaceAll(/\D/g, "").slice(0, 14);
    return `com,a)/${key} ${datetime} http://a.com/${key} text/html 200 ${i} 1`;
  }).toSorted();
}

function sortedLines(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .toSorted();
}

describe("a server with a silent limit", () => {
  it.each([
    ["honours everything", { ...PYWB, cap: 1000 }],
    ["cannot return its last row", { ...PYWB, reverse: false, cap: 1000 }],
    ["refuses what it does not support", { ...PYWB, reverse: false, complains: true, cap: 1000 }],
    ["has an odd limit", { ...PYWB, cap: 1237 }],
    ["has a power of two, without a last row", { ...PYWB, reverse: false, cap: 1024 }],
    ["ignores limits", { ...PYWB, limit: false, reverse: false, cap: 500 }],
    ["has a small limit", { ...PYWB, cap: 10 }],
  ])("gives a sample, which says so, where it %s", async (_name, manner) => {
    const rows = makeRows(manner.cap * 7 + 3, 300, 600);
    const { summary, text } = await harvest(rows, manner);
    expect(summary.sampleReason).toMatch(/may be missing.*--from and --to/);
    const [head = "", ...lines] = text.split("\n");
    expect(head).toMatch(/^!meta \{"sample":true,"source":"http:/);
    expect(lines.slice(0, -1)).toEqual(rows.slice(0, manner.cap));
  });

  it("of any size is found, where the server returns its last row", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1001, max: 2500 }),
        fc.integer({ min: 1, max: 400 }),
        // Often with captures of one key in the same second, between which the limit may cut.
        fc.integer({ min: 30, max: 6000 }),
        async (cap, keys, seconds) => {
          const rows = makeRows(2600, keys, seconds);
          const { summary } = await harvest(rows, { ...PYWB, cap });
          expect(summary.sampleReason).toMatch(/may be missing/);
        },
      ),
      { numRuns: 12 },
    );
  });

  it("is found among captures of one key and second", async () => {
    const rows = makeRows(3000, 1, 1);
    const cut = await harvest(rows, { ...PYWB, cap: 1237 });
    expect(cut.summary.sampleReason).toMatch(/stopped at 1,237 rows/);
    const whole = await harvest(rows, { ...PYWB, cap: Infinity });
    expect(whole.summary).toMatchObject({ lines: 3000, sampleReason: undefined });
  });

  it("is not suspected without a reason", async () => {
    const rows = makeRows(357, 300, 600);
    const manner = { limit: false, times: false, reverse: false, cap: Infinity };
    const { summary, asked } = await harvest(rows, manner);
    expect(summary).toMatchObject({ lines: 357, sampleReason: undefined });
    expect(asked).toHaveLength(2);
    // A round number is not a limit if the last row is there.
    const round = await harvest(makeRows(1000, 300, 600), { ...PYWB, cap: Infinity });
    expect(round.summary.sampleReason).toBeUndefined();
    expect(round.asked).toHaveLength(3);
    expect(round.asked[1]?.searchParams.get("limit")).toBe("1000000000");
  });

  it("is not suspected where the server only seems to have resume keys", async () => {
    const rows = makeRows(12_500, 300, 600);
    const { run, text } = await harvesting((url) =>
      isProbe(url) ? "1\n" : answer(rows, url, { ...PYWB, cap: Infinity }),
    );
    const summary = await run(ONE_TRY, DOMAIN);
    expect(sortedLines(text())).toEqual(rows);
    expect(summary.sampleReason).toBeUndefined();
  });

  it("of pages gives a sample", async () => {
    const rows = makeRows(9000, 9000, 600);
    const { run } = await harvesting((url) => {
      if (isProbe(url)) return '{"pages": 3}';
      const page = Number(url.searchParams.get("page"));
      const some = rows.slice(page * 3000, page * 3000 + 3000);
      return answer(some, url, { ...PYWB, cap: 1000 });
    });
    const summary = await run(ONE_TRY, DOMAIN);
    expect(summary.sampleReason).toMatch(/stopped at 1,000 rows: captures/);
  });
});

describe("mementomap harvest", () => {
  it("warns of a sample, exits with 1, and generate makes a map of at least its rows", async () => {
    const rows = makeRows(3000, 300, 600);
    const manner = { limit: true, times: false, reverse: false, cap: 1000 };
    const { api, target } = await harvesting((url) => answer(rows, url, manner));
    const words = ["--url", "a.com", "--match", "domain", "--interval", "0", "-o", target];
    const { code, stderr } = await runCli(["harvest", api, ...words]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^mementomap: warning: the server stopped at 1,000 rows, which may be a limit: captures may/,
    );
    const map = await runCli(["generate", target, "-q", "--threads", "1"]);
    expect(map.stdout).toMatch(/^com,a\)\/\S+ \d+\+$/m);
  });

  it("refuses an empty index, and leaves nothing behind", async () => {
    const { api, folder, target } = await harvesting(() => "");
    const words = ["harvest", `${api}/wbe/cdx`, "--url", "a.com", "--interval", "0", "-o", target];
    const { code, stderr } = await runCli(words);
    expect(code).toBe(2);
    expect(stderr).toMatch(/no captures of "a\.com"; check the collection.*MM_NOT_FOUND/);
    expect(readdirSync(folder)).toEqual([]);
    expect((await runCli([...words, "--force"])).code).toBe(0);
    expect(existsSync(target)).toBe(true);
  });

  it("says where the API of pywb is when the server answers with HTML", async () => {
    let status = 200;
    const { api, target } = await harvesting((_url, _turn, response) => {
      response.writeHead(status, { "content-type": "text/html" });
      return "<!DOCTYPE html>\n<html><body>Search</body></html>\n";
    });
    const words = ["--url", "a.com", "--interval", "0", "-o", target];
    for (const [code, message] of [
      [200, "MM_BAD_INPUT"],
      [404, "MM_HTTP"],
    ] as const) {
      status = code;
      const { stderr } = await runCli(["harvest", `${api}/web/`, ...words]);
      expect(stderr).toContain(`/COLLECTION/cdx, perhaps ${api}/web/cdx`);
      expect(stderr).toContain(`HTML`);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("--format");
      const stream = await runCli(["harvest", `${api}/web/`, "--paging", "stream", ...words]);
      expect(stream.stderr).toContain(`/COLLECTION/cdx`);
    }
  });
});
