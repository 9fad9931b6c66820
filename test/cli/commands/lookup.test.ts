import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const MAP = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
* 54321/20000
com,* 10000+
org,arxiv)/ 100
org,arxiv)/* 2500~/900
org,arxiv)/pdf/* 0
uk,co,bbc)/images/* 300+/20-
`;
const ANSWERS = [
  ["https://arxiv.org/", "present", "org,arxiv)/", "100", "0"],
  ["https://arxiv.org/abs/1", "present", "org,arxiv)/*", "2500~/900", "3"],
  ["https://arxiv.org/pdf/1", "absent", "org,arxiv)/pdf/*", "0", "2"],
  ["https://example.com/", "present", "com,*", "10000+", "4"],
  ["https://example.net/", "absent", "-", "-", "-"],
  ["https://zzz.zw/", "absent", "-", "-", "-"],
] as const;
const LINES = ANSWERS.map((answer) => `${answer.join("\t")}\n`).join("");
const URIS = ANSWERS.map(([uri]) => uri);

function mapFile(bytes: string | Uint8Array = MAP): string {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, bytes);
  return path;
}

describe("lookup", () => {
  it("answers arguments, with status 0 when one is present", async () => {
    expect(await runCli(["lookup", mapFile(), ...URIS])).toEqual({
      code: 0,
      stdout: LINES,
      stderr: "",
    });
  });

  it("ends with status 1 when none of the arguments is present", async () => {
    const absent = ["https://arxiv.org/pdf/1", "https://example.net/"];
    expect(await runCli(["lookup", mapFile(), ...absent])).toMatchObject({ code: 1, stderr: "" });
  });

  it.each([
    [[], "org,arxiv)/abs", '"org,arxiv)/abs" is a SURT; use --surt'],
    [["--surt"], "https://arxiv.org/abs", '"https://arxiv.org/abs" is a URI; omit --surt'],
  ])("warns when SURTs and URIs are mixed up: %j", async (options, input, warning) => {
    const argv = ["lookup", mapFile(), ...options];
    const stdout = `${input}\tabsent\t-\t-\t-\n`;
    const stderr = `mementomap: warning: ${warning}\n`;
    expect(await runCli([...argv, input])).toEqual({ code: 1, stdout, stderr });
    expect(await runCli([...argv, input, "-q"])).toEqual({ code: 1, stdout, stderr });
    // Once for a batch, which is all of one kind.
    const stdin = `${input}\n${input}\n`;
    expect(await runCli([...argv, "--batch", "-"], { stdin })).toEqual({
      code: 0,
      stdout: stdout + stdout,
      stderr: `${stderr}2 looked up, 0 present\n`,
    });
  });

  it("answers a batch, with status 0 whatever it finds", async () => {
    const map = mapFile();
    const stdin = `${URIS.join("\n")}\n`;
    expect(await runCli(["lookup", map, "--batch", "-"], { stdin })).toEqual({
      code: 0,
      stdout: LINES,
      stderr: "6 looked up, 3 present\n",
    });
    const none = await runCli(["lookup", map, "--batch", "-", "-q"], { stdin: "http://x.net/" });
    expect(none).toEqual({ code: 0, stdout: "http://x.net/\tabsent\t-\t-\t-\n", stderr: "" });
  });

  it("passes over blank lines and takes CRLF and a last line without end", async () => {
    const stdin = `\r\n${URIS.join("\r\n\n")}`;
    const { stdout } = await runCli(["lookup", mapFile(), "--batch", "-"], { stdin });
    expect(stdout).toBe(LINES);
  });

  it("goes by the arguments when there is a batch too", async () => {
    const stdin = "https://arxiv.org/\n";
    const result = await runCli(["lookup", mapFile(), "http://x.net/", "--batch", "-"], { stdin });
    expect(result.code).toBe(1);
    expect(result.stdout.split("\n")).toHaveLength(3);
  });

  it("takes SURTs, with and without a query", async () => {
    const map = mapFile("com,a)/b 1\ncom,a)/b?c=1 2\n");
    const surts = ["com,a)/b", "com,a)/b?c=1", "com,a)/b?d=1"];
    const expected =
      "com,a)/b\tpresent\tcom,a)/b\t1\t0\n" +
      "com,a)/b?c=1\tpresent\tcom,a)/b?c=1\t2\t0\n" +
      "com,a)/b?d=1\tpresent\tcom,a)/b\t1\t0\n";
    expect((await runCli(["lookup", "--surt", map, ...surts])).stdout).toBe(expected);
    const batch = await runCli(["lookup", "--surt", map, "--batch", "-"], {
      stdin: surts.join("\n"),
    });
    expect(batch.stdout).toBe(expected);
  });

  it("writes JSON Lines with nulls for what is not known", async () => {
    const expected = ANSWERS.map(([input, state, key, frequency, distance]) => ({
      input,
      present: state === "present",
      key: key === "-" ? null : key,
      frequency: frequency === "-" ? null : frequency,
      distance: distance === "-" ? null : Number(distance),
    }));
    const byArguments = await runCli(["lookup", "--json", mapFile(), ...URIS]);
    const byBatch = await runCli(["lookup", "--json", mapFile(), "--batch", "-"], {
      stdin: URIS.join("\n"),
    });
    for (const { stdout } of [byArguments, byBatch]) {
      const parsed = stdout
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line));
      expect(parsed).toEqual(expected);
    }
  });

  it("narrows to a time in maps that know times", async () => {
    const map = mapFile(
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ 2014 5\ncom,a)/ 2016 7\n',
    );
    const ask = async (...at: string[]): Promise<string> =>
      (await runCli(["lookup", map, "http://a.com/", ...at])).stdout;
    expect(await ask()).toBe("http://a.com/\tpresent\tcom,a)/\t12\t0\n");
    expect(await ask("--at", "2014")).toBe("http://a.com/\tpresent\tcom,a)/\t5\t0\n");
    expect(await ask("--at", "2016-03-05T10:11:12Z")).toBe(
      "http://a.com/\tpresent\tcom,a)/\t7\t0\n",
    );
    expect(await ask("--at", "2015")).toBe("http://a.com/\tabsent\t-\t-\t-\n");
    const batch = await runCli(["lookup", map, "--batch", "-", "--at", "2014"], {
      stdin: "http://a.com/\n",
    });
    expect(batch.stdout).toBe("http://a.com/\tpresent\tcom,a)/\t5\t0\n");
  });

  it("gives a tab of the input as %09, in arguments and in batches", async () => {
    const uri = "http://a.com/b\tc\td";
    const expected = "http://a.com/b%09c%09d\tpresent\tcom,*\t10000+\t5\n";
    expect((await runCli(["lookup", mapFile(), uri])).stdout).toBe(expected);
    const batch = await runCli(["lookup", mapFile(), "--batch", "-"], { stdin: uri });
    expect(batch.stdout).toBe(expected);
  });

  it("answers arguments and batches alike", async () => {
    const map = mapFile();
    const uris = fc.array(fc.webUrl({ withQueryParameters: true }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(uris, async (inputs) => {
        const one = await runCli(["lookup", map, ...inputs]);
        const many = await runCli(["lookup", map, "--batch", "-"], { stdin: inputs.join("\n") });
        expect(many.stdout).toBe(one.stdout);
      }),
      { numRuns: 50 },
    );
  });

  it("reads compressed maps and maps from standard input", async () => {
    const fromGzip = await runCli(["lookup", mapFile(gzipSync(MAP)), ...URIS]);
    const fromInput = await runCli(["lookup", "-", ...URIS], { stdin: MAP });
    expect(fromGzip.stdout).toBe(LINES);
    expect(fromInput.stdout).toBe(LINES);
  });

  it("writes a file, compressed by its name", async () => {
    const output = join(scratchDir(), "answers.tsv.gz");
    await runCli(["lookup", mapFile(), ...URIS, "-o", output]);
    expect(gunzipSync(readFileSync(output)).toString()).toBe(LINES);
  });

  it("answers every line of a batch of many blocks", async () => {
    const count = 20_000;
    const stdin = Array.from({ length: count }, (_, index) => `http://a.com/${index}\n`).join("");
    const { stdout } = await runCli(["lookup", mapFile(), "--batch", "-"], { stdin });
    const inputs = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[0]);
    expect(inputs).toHaveLength(count);
    expect(`${inputs.join("\n")}\n`).toBe(stdin);
  });

  it.each([
    ["a map that states to be empty", '!size {"bytes":0,"records":0}\n', "absent"],
    ["a map of one line without end", "com,a)/ 1", "present"],
    ["a map with CRLF", "com,a)/ 1\r\ncom,b)/ 1\r\n", "present"],
  ])("looks up in %s", async (_name, map, state) => {
    const path = mapFile(map);
    const one = await runCli(["lookup", path, "http://a.com/"]);
    const many = await runCli(["lookup", path, "--batch", "-"], { stdin: "http://a.com/" });
    expect(one.stderr).toBe("");
    expect(one.stdout.split("\t")[1]).toBe(state);
    expect(many.stdout).toBe(one.stdout);
  });

  it("refuses what makes no sense", async () => {
    const map = mapFile();
    expect((await runCli(["lookup"])).stderr).toContain("lookup needs a map");
    expect((await runCli(["lookup", map])).stderr).toContain("nothing to look up");
    expect((await runCli(["lookup", "-", "--batch", "-"])).stderr).toContain("read only once");
    expect((await runCli(["lookup", map, "x", "--at", "soon"])).stderr).toContain(
      '--at: not a datetime: "soon"',
    );
  });

  it.each([
    ["a bad frequency", "com,a)/ many\n", "map.ukvs:1:", "MM_BAD_FREQUENCY"],
    ["a bad header", "!fields {\ncom,a)/ 1\n", "map.ukvs:1:", "MM_BAD_HEADER"],
    ["a truncated gzip", gzipSync(MAP).subarray(0, 40), "map.ukvs:", "MM_BAD_INPUT"],
  ])("names the place of %s", async (_name, bytes, place, code) => {
    const {
      code: status,
      stdout,
      stderr,
    } = await runCli(["lookup", mapFile(bytes), "--batch", "-"], { stdin: "http://a.com/\n" });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(place);
    expect(stderr).toContain(`[${code}]`);
  });

  it("leaves no output behind when the input is bad", async () => {
    const folder = scratchDir();
    mkdirSync(join(folder, "out"));
    const { code } = await runCli(
      ["lookup", mapFile(), "--batch", "-", "-o", join(folder, "out", "answers.tsv")],
      { stdin: `http://a.com/\n${"x".repeat(2_000_000)}\n` },
    );
    expect(code).toBe(2);
    expect(readdirSync(join(folder, "out"))).toEqual([]);
  });
});
