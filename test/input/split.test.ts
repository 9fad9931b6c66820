import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

const HEADER = " CDX a b m s k r M S V g\n";
const ROWS = Array.from(
  { length: 60 },
  (_, i) =>
    `http://e${i % 7}.org/${"p".repeat(i % 5)} 20140102030405 text/html 200 X - - 1 2 w.warc.gz\n`,
);
const TEXT = HEADER + ROWS.join("");

function file(content: string | Uint8Array): string {
  const path = join(scratchDir(), "index.cdx");
  writeFileSync(path, content);
  return path;
}

/** The map of splits that are read one by one, each added to the map of those before. */
async function mapOfSplits(path: string, cuts: readonly number[]): Promise<string> {
  const map = join(scratchDir(), "map.ukvs");
  const env = { SOURCE_DATE_EPOCH: "1" };
  for (const [i, start] of cuts.slice(0, -1).entries()) {
    const add = i === 0 ? [] : ["--add", map];
    const split = `${start}-${cuts[i + 1]}`;
    const done = await runCli(["generate", path, "--split", split, ...add, "-o", map], { env });
    expect(done.stderr).not.toMatch(/MM_/);
  }
  return readFileSync(map, "utf8");
}

async function wholeMap(path: string): Promise<string> {
  const done = await runCli(["generate", path], { env: { SOURCE_DATE_EPOCH: "1" } });
  return done.stdout;
}

describe("a split of an index", () => {
  it("has each line once, wherever the cuts are, with the columns of the file", async () => {
    const path = file(TEXT);
    const expected = await wholeMap(path);
    const cuts = fc.array(fc.nat(TEXT.length), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(cuts, async (inner) => {
        const sorted = inner.toSorted((a, b) => a - b);
        const all = [0, ...sorted, TEXT.length];
        expect(await mapOfSplits(path, all)).toBe(expected);
      }),
      { numRuns: 15 },
    );
  });

  it("has the gzip members between its ends", async () => {
    const members = [HEADER + ROWS.slice(0, 9).join(""), ...ROWS.slice(9)].map((part) =>
      gzipSync(part),
    );
    const ends = members.reduce<number[]>(
      (sums, member) => [...sums, (sums.at(-1) ?? 0) + member.length],
      [],
    );
    const path = file(Buffer.concat(members));
    const cuts = [0, ends[0], ends[20], ends[20], ends.at(-1) ?? 0];
    expect(await mapOfSplits(path, cuts)).toBe(await wholeMap(path));
    const within = await runCli(["generate", path, "--split", `${ends[0] + 1}-${ends[5]}`]);
    expect(within.stderr).toMatch(/the split must begin and end with a gzip member \[MM_USAGE\]/);
  });

  it.each([
    ["plain", (text: string) => Buffer.from(text), 0],
    ["plain, within a line", (text: string) => Buffer.from(text), 20],
    ["compressed", (text: string) => gzipSync(text), 0],
  ])("names a bad line by its number in the file: %s", async (_kind, store, earlier) => {
    const before = store(HEADER + ROWS.slice(0, 30).join(""));
    const bad = store(`${ROWS[30]}bad\n`);
    const path = file(Buffer.concat([before, bad, store(ROWS.slice(31).join(""))]));
    const split = `${before.length - earlier}-999999`;
    const done = await runCli(["generate", path, "--split", split]);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain(`${path}:33: `);
  });

  it.each([
    [["a", "b", "--split", "0-1"], /a split is of one file; name one/],
    [["-", "--split", "0-1"], /a split is of one file; name one/],
    [["a", "--split", "9-1"], /not a split: "9-1"; write 0-134217728/],
  ])("is refused where it makes no sense: %j", async (args, message) => {
    const done = await runCli(["generate", ...args]);
    expect(done.code).toBe(2);
    expect(done.stderr).toMatch(message);
  });

  it("is refused of records, and behind the end", async () => {
    const warc = file("WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
    const records = await runCli(["generate", warc, "--split", "0-10"]);
    expect(records.stderr).toMatch(/only an index of lines can be read in splits/);
    const behind = await runCli(["generate", file(TEXT), "--split", "1000000-2000000"]);
    expect(behind.stderr).toMatch(/the split begins behind the end of the file, which has/);
  });
});
