import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { merged } from "../maps/map-files.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";

const TIMED = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';

/** The states and keys that `lookup` finds, for a few URIs and as a batch. */
async function lookedUp(map: string | Uint8Array, uri: string, at?: string): Promise<string[]> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, map);
  const time = at === undefined ? [] : ["--at", at];
  const few = await runCli(["lookup", "-q", path, uri, ...time]);
  const many = await runCli(["lookup", "-q", path, "--batch", "-", ...time], { stdin: `${uri}\n` });
  return [few, many].map(
    ({ stdout, stderr }) => stdout.split("\t").slice(1, 4).join(" ") || stderr,
  );
}

function twice<T>(value: T): T[] {
  return [value, value];
}

describe("what is held is not called absent", () => {
  it("where the row of a JSON block states more than its parts", async () => {
    const map = 'com,a)/ 10 {"datetime":{"2015":"5"}}\n';
    expect(await lookedUp(map, "http://a.com/", "2014")).toEqual(twice("present com,a)/ 10"));
    expect(await lookedUp(map, "http://a.com/", "2015")).toEqual(twice("present com,a)/ 5"));
  });

  it("where a blank line stands between rows of a key", async () => {
    const map = `${TIMED}com,a)/ 2015 0\n\ncom,a)/ 2016 5\n`;
    expect(await lookedUp(map, "http://a.com/")).toEqual(twice("present com,a)/ 5"));
    expect(await lookedUp(map, "http://a.com/", "2016")).toEqual(twice("present com,a)/ 5"));
  });

  it("where rows of a key are of another time than a wider one", async () => {
    const map = `${TIMED}com,a)/ 2014 5\ncom,a)/* 2015 3\n`;
    expect(await lookedUp(map, "http://a.com/", "2015")).toEqual(twice("present com,a)/* 3"));
  });

  it("where a map that is merged is absent at a time", async () => {
    const map = await merged(`${TIMED}com,a)/ : 5\n`, `${TIMED}com,a)/ 2014 0\n`);
    expect(await lookedUp(map, "http://a.com/", "2014")).toEqual(twice("present com,a)/ 5"));
  });

  it("where a byte order mark comes first", async () => {
    const map = "\uFEFFcom,a)/ 1\ncom,b)/ 2\n";
    expect(await lookedUp(map, "http://a.com/")).toEqual(twice("present com,a)/ 1"));
    expect(await merged(map)).toMatch(/^com,a\)\/ 1$/m);
  });

  it("where a value is quoted", async () => {
    const map = 'com,a)/ "1"\ncom,b)/ "0"\n';
    expect(await lookedUp(map, "http://a.com/")).toEqual(twice("present com,a)/ 1"));
    expect(await lookedUp(map, "http://b.com/")).toEqual(twice("absent com,b)/ 0"));
    const { url } = await serving(map);
    const response = await fetch(`${url}/lookup?url=http://a.com/`);
    expect(await response.json()).toMatchObject({ present: true, frequency: "1" });
  });

  it.each(["com,a)/x*y 1\n", "com,a)/x%2ay 1\n"])("where a key has a star: %j", async (map) => {
    expect(await lookedUp(map, "http://a.com/x*y")).toEqual(twice("present com,a)/x%2ay 1"));
  });

  it.each(["", "b", "bc", "bcd", "bcde", "bcdef"])(
    "where the last line has no end: /%s",
    async (path) => {
      const map = `com,a)/${path} 1`;
      expect(await lookedUp(map, `http://a.com/${path}`)).toEqual(twice(`present ${map}`));
    },
  );

  it("where another page has it", async () => {
    const folder = scratchDir();
    const [map, pages] = [join(folder, "map.ukvs"), join(folder, "pages")];
    writeFileSync(map, "com,a)/ 1\ncom,b)/ 2\ncom,c)/ 3\n");
    expect(await runCli(["split", map, "--pages", "3", "-o", pages])).toMatchObject({ code: 0 });
    const page = join(pages, "page-0002.ukvs");
    for (const asked of [["http://c.com/"], ["--batch", "-"]]) {
      const result = await runCli(["lookup", "-q", page, ...asked], { stdin: "http://c.com/\n" });
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain("[MM_PAGE]");
    }
    for (const asked of [["http://b.com/"], ["--batch", "-"]]) {
      expect(
        await runCli(["lookup", "-q", page, ...asked], { stdin: "http://b.com/\n" }),
      ).toMatchObject({ code: 0, stdout: "http://b.com/\tpresent\tcom,b)/\t2\t0\n" });
    }
  });
});

describe("the format", () => {
  it("is written by merge as writers do, whatever it was", async () => {
    const map = 'com,a)\t5/\r\ncom,b)/  "7"  {a:1}\r\ncom,c)/x*y 1\r\n';
    expect(await merged(map)).toBe('com,a)/ 5\ncom,b)/ 7 {"a":1}\ncom,c)/x%2ay 1\n');
  });

  it("has keys of their own for an IPv6 address with a port, and for what is not a host", async () => {
    const surts = await runCli(["surt", "http://[::1]:8080/", "http://[::1:8080]/"]);
    const [withPort, without] = surts.stdout.trimEnd().split("\n");
    expect(withPort).not.toBe(without);
    expect(await lookedUp("dns:a 1\n", "dns:a")).toEqual(twice("present dns:a 1"));
  });

  it.each([
    ["not UTF-8", Buffer.from("com,a)/\xff 1\ncom,b)/ 1\n", "latin1"), "MM_BAD_LINE"],
    ["quoted keys", '"com,a)/" 1\n"com,b)/" 1\n', "MM_BAD_KEY"],
  ])("is not searched where records are %s", async (_what, map, code) => {
    for (const output of await lookedUp(map, "http://a.com/")) expect(output).toContain(code);
  });

  it("has no key twice, but rows of one are added up", async () => {
    const map = "com,a)/ 1\ncom,a)/ 2\n";
    expect(await lookedUp(map, "http://a.com/")).toEqual(twice("present com,a)/ 3"));
    expect(await merged(map)).toMatch(/^com,a\)\/ 3$/m);
  });

  it("has generate take its own maps of URIs with a star, and validate accept them", async () => {
    const folder = scratchDir();
    const [list, map, more] = ["uris.txt", "map.ukvs", "more.ukvs"].map((name) =>
      join(folder, name),
    );
    writeFileSync(list, "http://a.com/x*y\nhttp://a.com/*\n");
    expect(await runCli(["generate", "-q", list, "-o", map])).toMatchObject({ code: 0 });
    const added = await runCli(["generate", "-q", "--add", map, list, "-o", more]);
    expect(added).toMatchObject({ code: 0 });
    for (const path of [map, more]) {
      expect(await runCli(["validate", "-q", path])).toMatchObject({ code: 0 });
      const found = await runCli(["lookup", "-q", path, "http://a.com/x*y", "http://a.com/z"]);
      expect(found.stdout).toMatch(/x\*y\tpresent\tcom,a\)\/x%2ay\t.*\n.*\tabsent\t-/);
    }
  });

  it.each([
    ["a star within a key", "com,a)/x*y 1\n", "%2a"],
    ["a quoted key", '"com,a)/" 1\n', "quote"],
  ])("has validate report %s", async (_what, map, words) => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, map);
    const { stdout, stderr } = await runCli(["validate", path]);
    expect(stdout + stderr).toContain(words);
  });

  it("has lookup say how many digits a time has", async () => {
    const result = await lookedUp("com,a)/ 1\n", "http://a.com/", "20141");
    expect(result[0]).toMatch(/4, 6, 8/);
  });
});
