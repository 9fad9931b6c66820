import { describe, expect, it } from "vitest";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";

const MAP = `!fields {"keys":["surt","datetime"],"values":["frequency"]}
com,* 2014 9
com,a)/* : 5
com,a)/x 2014 0
com,a)/x 2016 2
`;

/** Runs a command that has to succeed; returns what it wrote. */
async function output(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("lookup", () => {
  const written = (): string => `${folderWith({ "map.ukvs": MAP })}/map.ukvs`;

  it("lists the keys that were looked for, with their rows, up to the one that decides", async () => {
    const { stdout, code } = await runCli([
      "lookup",
      "--explain",
      "--at",
      "2015",
      written(),
      "http://a.com/x",
      "http://b.org/",
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe(`http://a.com/x	present	com,a)/*	5	2
   0  com,a)/x    com,a)/x 2014 0 | com,a)/x 2016 2  (does not decide)
   1  com,a)/x/*  -
   2  com,a)/*    com,a)/* : 5  (decides)
http://b.org/	absent	-	-	-
   0  org,b)/    -
   1  org,b)/*   -
   2  org,b,*)/  -
   3  org,b,*    -
   4  org,*)/    -
   4  org,*      -
`);
  });

  it("gives them as JSON", async () => {
    const { stdout } = await runCli(["lookup", "--explain", "--json", written(), "http://a.com/x"]);
    expect(JSON.parse(stdout)).toMatchObject({
      key: "com,a)/x",
      tried: [{ key: "com,a)/x", distance: 0, decides: true }],
    });
  });

  it("is not for batches", async () => {
    const { code, stderr } = await runCli(["lookup", "--explain", written(), "--batch", written()]);
    expect(stderr).toContain("--explain is for URIs given as arguments");
    expect(code).toBe(2);
  });

  it.each(["not a url", "", "b"])("refuses %j, which is no URI", async (input) => {
    const { code, stderr, stdout } = await runCli(["lookup", written(), input]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("is neither a URI nor a SURT");
  });

  it("says how many digits a time has", async () => {
    const { stderr } = await runCli(["lookup", "-q", written(), "http://a.com/", "--at", "20141"]);
    expect(stderr).toMatch(/4, 6, 8/);
  });

  it("finds URIs with a star in maps that generate makes, and adds to, and validate accepts", async () => {
    const folder = folderWith({ "uris.txt": "http://a.com/x*y\nhttp://a.com/*\n" });
    const [list, map, more] = ["uris.txt", "map.ukvs", "more.ukvs"].map(
      (name) => `${folder}/${name}`,
    );
    await output("generate", "-q", list, "-o", map);
    await output("generate", "-q", "--add", map, list, "-o", more);
    for (const path of [map, more]) {
      await output("validate", "-q", path);
      const found = await output("lookup", "-q", path, "http://a.com/x*y", "http://a.com/z");
      expect(found).toMatch(/x\*y\tpresent\tcom,a\)\/x%2ay\t.*\n.*\tabsent\t-/);
    }
  });
});
