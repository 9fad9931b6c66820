import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../generate/naive-map.ts";
import type { CliResult } from "../support/run-cli.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { sized } from "../support/sized-map.ts";

/**
 * What went wrong in the reference implementation of the paper (MementoMap 0.1.0b2), each with the
 * smallest input that shows it and the right answer.
 */

/** The map of the paper's figure 2. */
const FIGURE_2 = `!context ["https://git.io/mementomap"]
!id {uri: "https://archive.example.org/"}
!fields {keys: ["surt"], values: ["frequency"]}
!meta {name: "Example Archive", type: "MementoMap", updated_at: "2018-09-03T13:27:52Z"}
* 54321/20000
com,* 10000+
org,arxiv)/ 100
org,arxiv)/* 2500~/900
org,arxiv)/pdf/* 0
uk,co,bbc)/images/* 300+/20-
`;

function fileOf(content: string | Uint8Array, name: string = "map.ukvs"): string {
  const path = join(scratchDir(), name);
  writeFileSync(path, content);
  return path;
}

function textOf(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join("");
}

async function compactText(
  map: string,
  hostWeight: string,
  pathWeight: string,
): Promise<CliResult> {
  const weights = ["--host-weight", hostWeight, "--path-weight", pathWeight];
  return runCli(["compact", "-q", ...weights, fileOf(map)]);
}

/** The rows of a compacted map. */
async function compacted(
  rows: readonly string[],
  hostWeight: string,
  pathWeight: string,
): Promise<string[]> {
  const result = await compactText(textOf(rows), hostWeight, pathWeight);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return rowsOf(result.stdout);
}

/** The rows of a map made from an index. */
async function generated(lines: readonly string[], ...options: string[]): Promise<string[]> {
  const result = await runCli(["generate", "-q", ...options, fileOf(textOf(lines), "index")]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return rowsOf(result.stdout);
}

function cdxj(...surts: string[]): string[] {
  return surts.map((surt) => `${surt} 20140101000000 {}`);
}

/** Answers as `present|absent key frequency distance`, in the order asked, and the exit status. */
async function lookedUp(
  map: readonly string[] | string,
  ...surts: string[]
): Promise<{ code: number; answers: string[] }> {
  const path = fileOf(typeof map === "string" ? map : textOf(map));
  const { code, stdout, stderr } = await runCli(["lookup", "--surt", path, "--", ...surts]);
  expect(stderr).toBe("");
  const lines = stdout.split("\n").slice(0, -1);
  return { code, answers: lines.map((line) => line.split("\t").slice(1).join(" ")) };
}

/** The answers to a list on standard input. */
async function lookedUpInBatch(map: readonly string[], list: string): Promise<string[]> {
  const argv = ["lookup", "--surt", "--batch", "-", fileOf(textOf(map))];
  const { stdout } = await runCli(argv, { stdin: list });
  return stdout.split("\n").slice(0, -1);
}

describe("faults of the reference implementation", () => {
  it("1: compaction dropped all headers", async () => {
    const { stdout } = await compactText(FIGURE_2, "inf", "inf");
    expect(stdout.split("\n").slice(0, 4)).toEqual([
      '!context ["https://git.io/mementomap"]',
      '!fields {"keys":["surt"],"values":["frequency"]}',
      '!id {"uri":"https://archive.example.org/"}',
      '!meta {"name":"Example Archive","type":"MementoMap","updated_at":"2018-09-03T13:27:52Z"}',
    ]);
  });

  it("2: frequencies that are not plain integers were dropped with their rows", async () => {
    const { stdout } = await compactText(FIGURE_2, "inf", "inf");
    expect(rowsOf(stdout)).toEqual(rowsOf(FIGURE_2));
    const rows = ["com,a)/x 10000+", "com,a)/y 54321/20000", "com,a)/z /50"];
    expect(await compacted(rows, "inf", "0")).toEqual(["com,a)/* 64321+/20050+"]);
  });

  it("3: a key behind the last line raised, instead of trying its wildcards", async () => {
    const map = ["com,aaa) 1", "com,bbb) 1", "com,ccc) 1", "zw,co,* 7"];
    expect(await lookedUp(map, "zw,co,foo)/")).toEqual({
      code: 0,
      answers: ["present zw,co,* 7 5"],
    });
    expect(await lookedUp(map, "zz,nope)/")).toEqual({ code: 1, answers: ["absent - - -"] });
  });

  it("4: an exact hit on the last line failed", async () => {
    const key = "org,example,subdomain)/long/path";
    expect(await lookedUp(["com,a) 1", `${key} 3`], key)).toEqual({
      code: 0,
      answers: [`present ${key} 3 0`],
    });
  });

  it("5: a wildcard on the first line was not found", async () => {
    const map = ["com,example)/* 5", "com,foo) 1", "com,goo) 1", "com,zoo) 1", "net,aaa) 1"];
    expect((await lookedUp(map, "com,example)/a")).answers).toEqual(["present com,example)/* 5 2"]);
  });

  it("6: the same query was answered once in a batch", async () => {
    const answers = await lookedUpInBatch(
      ["com,example)/ 5", "com,foo)/ 1"],
      "com,example)/\ncom,example)/\n",
    );
    expect(answers).toHaveLength(2);
    expect(answers[0]).toBe(answers[1]);
  });

  it("7: one failing key ended the batch", async () => {
    const answers = await lookedUpInBatch(["com,aaa)/ 1", "com,bbb)/ 2"], "zz,nope)/\ncom,bbb)/\n");
    expect(answers).toEqual(["zz,nope)/\tabsent\t-\t-\t-", "com,bbb)/\tpresent\tcom,bbb)/\t2\t0"]);
  });

  it("8: a map of one line, an empty map, and blank lines made lookup raise", async () => {
    expect((await lookedUp(["com,example)/* 5"], "com,example)/a")).answers).toEqual([
      "present com,example)/* 5 2",
    ]);
    const empty = '!size {"bytes":0,"records":0}\n';
    expect(await lookedUp(empty, "com,example)/a")).toEqual({ code: 1, answers: ["absent - - -"] });
    expect((await lookedUp("!meta {}\n\ncom,example)/* 5\n\n", "com,example)/a")).answers).toEqual([
      "present com,example)/* 5 2",
    ]);
  });

  const WITH_QUERIES = ["a", "a/b", "a0", "a?x=1", "a?x=2", "b"].map((path) => `com,x)/${path}`);

  it("9: queries were stripped after sorting: keys came twice and out of order", async () => {
    expect(await generated(cdxj(...WITH_QUERIES))).toEqual([
      "com,x)/a 3",
      "com,x)/a/b 1",
      "com,x)/a0 1",
      "com,x)/b 1",
    ]);
  });

  it("10: and so keys that are held were not found", async () => {
    const index = cdxj(
      "com,example)/a?x=1",
      "com,example)/b/c",
      "com,example)/b?q=1",
      "com,examplf)/",
      "com,exampleg)/",
      "com,exampleh)/",
    );
    expect((await lookedUp(await generated(index), "com,example)/b/c")).answers).toEqual([
      "present com,example)/b/c 1 0",
    ]);
  });

  it("11: trailing slashes were stripped after sorting", async () => {
    const map = await generated(cdxj("com,x)/a-b", "com,x)/a.html", "com,x)/a/", "com,x)/b"));
    expect(map).toEqual(["com,x)/a 1", "com,x)/a-b 1", "com,x)/a.html 1", "com,x)/b 1"]);
    expect((await lookedUp(map, "com,x)/a.html", "com,x)/a/")).answers).toEqual([
      "present com,x)/a.html 1 0",
      "present com,x)/a 1 0",
    ]);
  });

  it("12: a sub-tree that is not contiguous was counted as several children", async () => {
    const paths = Array.from({ length: 12 }, (_, i) => [`a${i}`, `a${i}-x`, `a${i}/y`]).flat();
    const rows = paths.map((path) => `com,x)/${path} 1`).sort((a, b) => (a < b ? -1 : 1));
    // 24 children, and a cutoff of 24.546.
    expect(await compacted(rows, "inf", "1")).toEqual(rows);
    expect(await compacted([...rows, "com,x)/z 1"], "inf", "1")).toEqual(["com,x)/* 37"]);
  });

  it("13: hosts without a comma were dropped", async () => {
    const surts = ["127.0.0.1)/x", "com)/", "localhost)/a", "org,a)/"];
    const rows = surts.map((surt) => `${surt} 1`);
    expect(await generated(cdxj(...surts))).toEqual(rows);
    expect(await compacted(["* 4", ...rows], "1", "1")).toEqual(["* 4", ...rows]);
    expect((await lookedUp(rows, ...surts)).answers.map((answer) => answer.split(" ")[0])).toEqual(
      surts.map(() => "present"),
    );
  });

  it("14: a home page written as in the paper was never found", async () => {
    expect((await lookedUp(FIGURE_2, "org,arxiv)/")).answers).toEqual([
      "present org,arxiv)/ 100 0",
    ]);
  });

  it("15: keys with a query could not be found", async () => {
    const map = ["com,example)/a 1", "com,example)/a?lang=ar 5"];
    expect((await lookedUp(map, "com,example)/a?lang=ar", "com,example)/a")).answers).toEqual([
      "present com,example)/a?lang=ar 5 0",
      "present com,example)/a 1 0",
    ]);
  });

  it("16: what the row * means was left open: it states totals, and makes nothing present", async () => {
    expect(await lookedUp(["* 99", "com,bb)/ 1"], "com,aa)/")).toEqual({
      code: 1,
      answers: ["absent - - -"],
    });
    expect(await compacted(["* 99", "com,bb)/ 1"], "0", "0")).toContain("* 99");
  });

  it("17: a double slash hid the wildcards above it", async () => {
    const [answer] = (await lookedUp(["com,x)/* 30"], "com,x)//a")).answers;
    expect(answer).toMatch(/^present com,x\)\/\* 30 \d$/);
  });

  it("18: a path that ends in a comma lost it, and was not found", async () => {
    const map = await generated(cdxj("com,x)/a,"));
    expect(map).toEqual(["com,x)/a, 1"]);
    expect((await lookedUp(map, "com,x)/a,")).answers).toEqual(["present com,x)/a, 1 0"]);
  });

  it("19: exclusions alone were rolled up to an exclusion of everything", async () => {
    const rows = Array.from({ length: 31 }, (_, i) => `com,a)/p${10 + i} 0`);
    expect(await compacted(rows, "0", "0")).toEqual(rows);
  });

  it("20: a wildcard, which includes all below it, was counted twice", async () => {
    const rows = ["com,twitter)/ 100", "com,twitter)/* 250"];
    expect(await compacted(rows, "inf", "0")).toEqual(["com,twitter)/* 250"]);
  });

  it("21: exclusions were lost on roll-up", async () => {
    const rows = ["com,cnn)/* 400", "com,cnn)/profiles/* 0", "com,cnn)/world 0"];
    expect(await compacted(rows, "inf", "0")).toEqual(rows);
  });

  it("22: rows of one key were not added up", async () => {
    expect(await generated(cdxj("com,a)/x", "com,a)/x", "com,a)/x?q"))).toEqual(["com,a)/x 3"]);
    expect(await compactText("com,a)/x 1\ncom,a)/x 2\n", "1", "1")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(
        'map.ukvs:2: key "com,a)/x" occurs twice; "mementomap merge" adds such rows up',
      ),
    });
  });

  it("23: compacting a file in place emptied it", async () => {
    const path = fileOf("com,a)/x 1\ncom,a)/y 2\n");
    const argv = ["compact", "-q", "--path-weight", "0", path, "-o", path];
    expect(await runCli(argv)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(path, "utf8")).toBe(sized("com,a)/* 3\n"));
  });

  it("24: bad input was swallowed, with status 0", async () => {
    const missing = join(scratchDir(), "none.ukvs");
    expect(await runCli(["compact", missing])).toEqual({
      code: 2,
      stdout: "",
      stderr: `mementomap: ${missing}: no such file or folder; check the path [MM_IO]\n`,
    });
    const gzipped = fileOf(gzipSync("com,a)/x 1\n"), "no-suffix");
    expect((await runCli(["compact", "-q", gzipped])).stdout).toBe(sized("com,a)/x 1\n"));
    for (const bad of ["garbage", "com,a)/ 1.5", "com,a)/ -3", "com,a)/ 1_000", "com,a)/"]) {
      const result = await compactText(`com,A)/ 1\n${bad}\n`, "1", "1");
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain("map.ukvs:2: ");
    }
  });

  it("25: unsorted input was taken without a word", async () => {
    const surts = ["org,b)/", "com,a)/", "org,b)/"];
    expect(await generated(cdxj(...surts))).toEqual(["com,a)/ 1", "org,b)/ 2"]);
    const result = await compactText("org,b)/ 1\ncom,a)/ 1\n", "1", "1");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(
      'map.ukvs:2: key "com,a)/" comes after "org,b)/"; "mementomap merge" sorts a map [MM_NOT_SORTED]',
    );
  });

  it("26: the datetime of a map with two keys was taken for its frequency", async () => {
    const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}';
    const rows = ["com,apple)/* 20160213 20", "com,apple,a)/ 20160213 1", "com,apple,a)/ 2017 2"];
    const kept = await compactText(textOf([fields, ...rows]), "inf", "inf");
    expect(kept.stdout).toBe(sized(textOf([fields, ...rows])));
    const rolledUp = await compactText(textOf([fields, ...rows]), "0", "inf");
    expect(rowsOf(rolledUp.stdout)).toEqual(["com,apple,* 20160213 21", "com,apple,* 2017 2"]);
    expect(await compactText(textOf(rows), "1", "1")).toMatchObject({ code: 2, stdout: "" });
  });

  it("27: a newline in a key made lookup run for ever", async () => {
    const { code, stderr } = await runCli(["lookup", "--surt", fileOf("com,a)/ 1\n"), "a\nb,c)/"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("MM_USAGE") });
  });

  it("28: revisits, errors and robots.txt could not be left out", async () => {
    const row = (path: string, mime: string, status: string): string =>
      `com,example)/${path} 2014 {"url": "http://example.com/${path}", "mime": "${mime}", "status": "${status}"}`;
    const index = [
      row("", "text/html", "200"),
      row("", "warc/revisit", "200"),
      row("missing", "text/html", "404"),
      row("robots.txt", "text/html", "200"),
    ];
    expect(await generated(index, "--preset", "paper")).toEqual(["com,example)/ 1"]);
  });

  it("29: a depth of 0 was answered with the usage text and status 0", async () => {
    expect(await runCli(["compact", "--max-host-depth", "0", fileOf("com,a)/ 1\n")])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^mementomap: .*--max-host-depth.*"0".*\[MM_USAGE\]\n$/),
    });
  });
});
