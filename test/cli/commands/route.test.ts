import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type CliResult, runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

const YEARS = `!fields {"keys":["surt","datetime"],"values":["frequency"]}
!meta {"updated_at":"2018-09-03T13:27:52Z"}
org,arxiv)/* 2001 30/10
org,arxiv)/* 2003 30/10
`;

let list = "";

function entry(id: string, more: object = {}): object {
  return { id, timemap: `http://${id}/timemap/`, timegate: `http://${id}/timegate/`, ...more };
}

function writeList(...entries: readonly object[]): void {
  writeFileSync(list, JSON.stringify(entries));
}

function route(...args: readonly string[]): Promise<CliResult> {
  // The maps of these tests are old.
  return runCli(["route", ...args, "--archives", list, "--map-age", "off"]);
}

beforeEach(() => {
  const folder = scratchDir();
  list = join(folder, "archives.json");
  writeFileSync(join(folder, "map.ukvs"), EXAMPLE_MAP);
  writeFileSync(join(folder, "years.ukvs"), YEARS);
  writeList(
    entry("plain.example"),
    entry("map.example", { mementomap: "map.ukvs" }),
    entry("years.example", { mementomap: "years.ukvs" }),
  );
});

describe("mementomap route", () => {
  it("shows who would be asked, and why", async () => {
    expect(await route("https://arxiv.org/abs/1", "arxiv.org/pdf/1")).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "https://arxiv.org/abs/1: ask 3 of 3",
        "      archive        reason         key              counts  likely",
        "ask   map.example    in its map     org,arxiv)/*  2500~/900    0.93",
        "ask   years.example  in its map     org,arxiv)/*      60/20    0.24",
        "ask   plain.example  no usable map  -                     -    0.05",
        "",
        "http://arxiv.org/pdf/1: ask 2 of 3",
        "      archive        reason          key               counts  likely",
        "ask   years.example  in its map      org,arxiv)/*       60/20    0.24",
        "ask   plain.example  no usable map   -                      -    0.05",
        "skip  map.example    not in its map  org,arxiv)/pdf/*       0       -",
        "",
      ].join("\n"),
    });
  });

  it("fits 80 columns, however long keys and ids are", async () => {
    const long = "x".repeat(100);
    writeFileSync(join(list, "../map.ukvs"), `org,arxiv)/${long}/* 12345678901/12345678901\n`);
    writeList(entry(`${long}.example`, { mementomap: "map.ukvs" }), entry("plain.example"));
    const { stdout } = await route(`http://arxiv.org/${long}/${long}`, "--top-k", "1");
    expect(stdout).toContain("in its map");
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("writes a line of JSON for each URI", async () => {
    const { stdout } = await route("--json", "http://arxiv.org/", "http://arxiv.org/abs");
    const [first, second] = stdout.split("\n").map((line): unknown => line && JSON.parse(line));
    expect(first).toMatchObject({
      original_uri: "http://arxiv.org/",
      asked: 3,
      archives: [
        {
          id: "map.example",
          name: "map.example",
          asked: true,
          reason: "in-map",
          likelihood: 0.99,
          key: "org,arxiv)/",
          frequency: "100",
        },
        { id: "years.example" },
        { id: "plain.example", key: null, frequency: null },
      ],
    });
    expect(second).toMatchObject({ original_uri: "http://arxiv.org/abs" });
  });

  it.each([
    [["--top-k", "1"], ["map.example"]],
    [
      ["--only", "plain.example", "--only", "map.example"],
      ["map.example", "plain.example"],
    ],
    [
      ["--only", "!map.example"],
      ["years.example", "plain.example"],
    ],
    [
      ["--from", "2002", "--until", "2002-12"],
      ["map.example", "plain.example"],
    ],
    [
      ["--from", "2002", "--until", "2003"],
      ["map.example", "years.example", "plain.example"],
    ],
    [
      ["--datetime", "2005"],
      ["map.example", "years.example", "plain.example"],
    ],
    [
      ["--map", "plain.example=nothing.ukvs", "--top-k", "2"],
      ["map.example", "years.example"],
    ],
  ])("goes by %j", async (options, expected) => {
    const { stdout } = await route("--json", "--quiet", "http://arxiv.org/abs/1", ...options);
    const { archives } = JSON.parse(stdout) as { archives: { id: string; asked: boolean }[] };
    expect(archives.flatMap(({ id, asked }) => (asked ? [id] : []))).toEqual(expected);
  });

  it("asks holders of a page for its parts", async () => {
    const image = "http://cdn.example/a.png";
    const { stdout } = await route(image, "--referer", "http://arxiv.org/abs/1");
    expect(stdout).toContain("ask   map.example    holds the page");
    expect((await route(image)).stdout).toContain("skip  map.example    not in its map");
  });

  it("says no when nobody would be asked", async () => {
    const { code } = await route("http://example.org/", "--only", "!plain.example");
    expect(code).toBe(1);
  });

  it("fetches maps, and goes on without those it cannot get", async () => {
    const { url } = await serving(EXAMPLE_MAP);
    writeList(
      entry("served.example", { mementomap: `${url}/` }),
      entry("gone.example", { mementomap: "gone.ukvs" }),
    );
    const { code, stdout, stderr } = await route("http://arxiv.org/");
    expect(code).toBe(0);
    expect(stdout).toMatch(/ask {3}served.example {2}in its map/);
    expect(stdout).toMatch(/ask {3}gone.example {4}no usable map/);
    expect(stderr).toMatch(/^mementomap: no map of gone.example: .*gone.ukvs: no such file/);
  });

  it.each([
    [["http://a.example/"], "name the list of archives"],
    [["--archives", "LIST"], "nothing to route"],
    [["a b", "--archives", "LIST"], "is not an address"],
    [["a.example", "--archives", "LIST", "--only", "x"], 'there is no archive "x"'],
    [["a.example", "--archives", "LIST", "--map", "x=y"], 'there is no archive "x"'],
    [["a.example", "--archives", "no.json"], "no.json: no such file"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr, stdout } = await runCli([
      "route",
      ...args.map((arg) => (arg === "LIST" ? list : arg)),
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});
