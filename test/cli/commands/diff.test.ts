import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const BEFORE = `!context ["https://git.io/mementomap"]
!meta {"name":"Old"}
com,a)/ 1
com,b)/ 2
com,c)/ 3
`;
const AFTER = `!context ["https://git.io/mementomap"]
!meta {"name":"New"}
com,b)/ 2
com,c)/ 4
com,d)/ 5
`;

function mapFiles(...contents: (string | Uint8Array)[]): string[] {
  const folder = scratchDir();
  return contents.map((content, index) => {
    const path = join(folder, `${index}.ukvs`);
    writeFileSync(path, content);
    return path;
  });
}

describe("diff", () => {
  it("shows what differs, with status 1", async () => {
    expect(await runCli(["diff", ...mapFiles(BEFORE, gzipSync(AFTER))])).toEqual({
      code: 1,
      stdout: `- !meta {"name":"Old"}
+ !meta {"name":"New"}
- com,a)/ 1
- com,c)/ 3
+ com,c)/ 4
+ com,d)/ 5
`,
      stderr: "",
    });
  });

  it("says nothing, with status 0, when only the layout differs", async () => {
    const laidOut = `!meta {name: "Old"}
!context ["https://git.io/mementomap"]
com,a)/   1\r
com,b)/\t2
com,c)/ 3`;
    expect(await runCli(["diff", ...mapFiles(BEFORE, laidOut)])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("says nothing of the order of members, nor of a slash without a count", async () => {
    const before = '!meta {"name":"A","type":{"b":1,"c":2}}\ncom,a)/ 1\n';
    const after = '!meta {"type":{"c":2,"b":1},"name":"A"}\ncom,a)/ 1/\n';
    const { code, stdout } = await runCli(["diff", ...mapFiles(before, after)]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const other = await runCli(["diff", ...mapFiles(before, after.replace("1/", "1/1"))]);
    expect(other).toMatchObject({ code: 1, stdout: "- com,a)/ 1\n+ com,a)/ 1/1\n" });
  });

  it("writes JSON Lines", async () => {
    const { code, stdout } = await runCli(["diff", "--json", ...mapFiles(BEFORE, AFTER)]);
    expect(code).toBe(1);
    const parsed = stdout
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(parsed).toEqual([
      { kind: "removed", header: '!meta {"name":"Old"}' },
      { kind: "added", header: '!meta {"name":"New"}' },
      { kind: "removed", key: "com,a)/", before: "1" },
      { kind: "changed", key: "com,c)/", before: "3", after: "4" },
      { kind: "added", key: "com,d)/", after: "5" },
    ]);
  });

  it("reads one of them from standard input", async () => {
    const [path = ""] = mapFiles(BEFORE);
    expect(await runCli(["diff", path, "-"], { stdin: BEFORE })).toMatchObject({ code: 0 });
    expect((await runCli(["diff", "-", "-"])).stderr).toContain("only once");
    expect((await runCli(["diff", path])).stderr).toContain("two maps");
  });

  it("names the place of a fault", async () => {
    const [good = "", bad = ""] = mapFiles(BEFORE, "com,b)/ 1\ncom,a)/ 1\n");
    const { code, stderr } = await runCli(["diff", good, bad]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${bad}:2: `);
    expect(stderr).toContain("[MM_NOT_SORTED]");
  });
});
