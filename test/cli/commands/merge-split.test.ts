import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Interrupt } from "../../../src/interruption.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { sized } from "../../support/sized-map.ts";

const HEAD = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
`;
const A = `${HEAD}com,a)/ 1
com,a)/* 5
com,a)/x/* 0
org,b)/ 2
`;
const B = `${HEAD}com,a)/ 2
org,c)/ 0
`;
const BOTH = `${HEAD}com,a)/ 3
com,a)/* 5
com,a)/x/* 0
org,b)/ 2
org,c)/ 0
`;

function folderWith(files: Record<string, string | Uint8Array>): string {
  const folder = scratchDir();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

describe("merge", () => {
  it("adds counts and keeps exclusions that both maps agree on", async () => {
    const folder = folderWith({ a: A, b: B });
    expect(await runCli(["merge", join(folder, "a"), join(folder, "b")])).toEqual({
      code: 0,
      stdout: sized(BOTH),
      stderr: "2 maps, 6 records in, 5 out\n",
    });
  });

  it("reads compressed maps and standard input, and leaves no scratch files", async () => {
    const folder = folderWith({ "a.bin": gzipSync(A) });
    const tmp = join(folder, "tmp");
    mkdirSync(tmp);
    const result = await runCli(["merge", join(folder, "a.bin"), "-", "--tmp", tmp, "-q"], {
      stdin: gzipSync(B),
    });
    expect(result).toEqual({ code: 0, stdout: sized(BOTH), stderr: "" });
    expect(readdirSync(tmp)).toEqual([]);
  });

  it("may write to one of its inputs", async () => {
    const folder = folderWith({ a: A, b: B });
    const [a, b] = [join(folder, "a"), join(folder, "b")];
    expect(await runCli(["merge", a, b, "-o", a])).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(a, "utf8")).toBe(sized(BOTH));
    expect(readdirSync(folder)).toEqual(["a", "b"]);
  });

  it.each([
    ["bad", `${HEAD}org,c)/ 1\norg,d)/ x\n`],
    ["bad and not sorted", `${HEAD}org,c)/ 1\ncom,d)/ x\n`],
  ])("leaves the output as it was when an input is %s, and names the line", async (_name, map) => {
    const folder = folderWith({ a: A, bad: map, out: B });
    const { code, stderr } = await runCli([
      "merge",
      join(folder, "a"),
      join(folder, "bad"),
      "-o",
      join(folder, "out"),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${join(folder, "bad")}:4: `);
    expect(stderr).toContain("[MM_BAD_FREQUENCY]");
    expect(readFileSync(join(folder, "out"), "utf8")).toBe(B);
    expect(readdirSync(folder)).toEqual(["a", "bad", "out"]);
  });

  it.each([
    ["binary data", Buffer.from([0, 1, 2, 255, 10, 254, 10]), "MM_BAD_"],
    ["a cut gzip", gzipSync(A).subarray(0, 30), "MM_BAD_INPUT"],
    ["a line of 10 MB", `${"x".repeat(10_000_000)} 1\n`, "MM_LIMIT"],
  ])("refuses %s", async (_name, bytes, code) => {
    const folder = folderWith({ a: A, bad: bytes });
    const result = await runCli(["merge", join(folder, "a"), join(folder, "bad")]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`[${code}`);
    expect(result.stderr).toContain(join(folder, "bad"));
  });

  it("refuses a bad frequency", async () => {
    const folder = folderWith({ a: A, bad: "com,a)/ many\n" });
    const result = await runCli(["merge", join(folder, "a"), join(folder, "bad")]);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("MM_BAD_FREQUENCY") });
  });

  it("takes maps with CRLF, and empty ones that say so", async () => {
    const folder = folderWith({ empty: sized(HEAD), crlf: sized(B).replaceAll("\n", "\r\n") });
    const result = await runCli(["merge", "-q", join(folder, "empty"), join(folder, "crlf")]);
    expect(result).toEqual({ code: 0, stdout: sized(B), stderr: "" });
  });

  it("says what is missing", async () => {
    expect((await runCli(["merge"])).stderr).toContain("at least one map");
    expect((await runCli(["merge", "-", "-"])).stderr).toContain("only once");
    expect((await runCli(["merge", "none"])).stderr).toContain("no such file");
    expect((await runCli(["merge", "/"])).stderr).toContain("is a directory");
  });
});

describe("split", () => {
  it("makes pages that merge into the same map again", async () => {
    const folder = folderWith({ a: A });
    const pages = join(folder, "pages");
    const split = await runCli(["split", join(folder, "a"), "--pages", "2", "-o", pages]);
    expect(split).toEqual({ code: 0, stdout: "", stderr: "4 records on 2 pages\n" });
    expect(readdirSync(pages)).toEqual(["page-0001.ukvs", "page-0002.ukvs"]);
    const paths = readdirSync(pages).map((name) => join(pages, name));
    expect((await runCli(["merge", "-q", ...paths.reverse()])).stdout).toBe(sized(A));
  });

  it("cuts by lines, and compresses on request", async () => {
    const folder = folderWith({ "a.gz": gzipSync(A) });
    const pages = join(folder, "pages");
    const argv = ["split", join(folder, "a.gz"), "--max-lines", "3", "--gzip", "-o", pages];
    const { code, stderr } = await runCli([...argv, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({ pages: 2, records: 4 });
    expect(readdirSync(pages)).toEqual(["page-0001.ukvs.gz", "page-0002.ukvs.gz"]);
    const last = gunzipSync(readFileSync(join(pages, "page-0002.ukvs.gz"))).toString();
    expect(last.startsWith(HEAD)).toBe(true);
    expect(last.endsWith("\norg,b)/ 2\n")).toBe(true);
  });

  it("reads standard input", async () => {
    const pages = join(scratchDir(), "pages");
    await runCli(["split", "--pages", "1", "-o", pages], { stdin: A });
    expect(readdirSync(pages)).toEqual(["page-0001.ukvs"]);
  });

  it("leaves nothing behind when the map is bad or the run is interrupted", async () => {
    const folder = folderWith({ bad: "com,a)/ 1\norg,c)/ x\n", a: A });
    const pages = join(folder, "pages");
    const bad = await runCli(["split", join(folder, "bad"), "--max-lines", "1", "-o", pages]);
    expect(bad.stderr).toContain("[MM_BAD_FREQUENCY]");
    const interrupt = new Interrupt();
    interrupt.trigger("SIGTERM");
    const argv = ["split", join(folder, "a"), "--max-lines", "1", "-o", pages];
    expect(await runCli(argv, { interrupt })).toMatchObject({ code: 130 });
    expect(readdirSync(folder)).toEqual(["a", "bad"]);
  });

  it("says what is missing", async () => {
    expect((await runCli(["split", "a", "-o", "x"])).stderr).toContain("--pages N or --max-lines");
    expect((await runCli(["split", "a", "--pages", "2"])).stderr).toContain("-o DIR");
    expect((await runCli(["split", "a", "b", "--pages", "2"])).stderr).toContain("one map");
    const folder = folderWith({ a: A });
    const full = await runCli(["split", join(folder, "a"), "--pages", "2", "-o", folder]);
    expect(full.stderr).toContain("not empty");
  });
});
