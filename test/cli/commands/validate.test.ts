import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const HEAD = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
`;

function mapFile(content: string | Uint8Array): string {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, content);
  return path;
}

describe("validate", () => {
  it("finds nothing wrong with a good map", async () => {
    const path = mapFile(`${HEAD}com,a)/ 1\ncom,b)/* 2~/1\n`);
    expect(await runCli(["validate", path])).toEqual({
      code: 0,
      stdout: "",
      stderr: "0 errors, 0 warnings\n",
    });
  });

  it("lists every fault with its line, with status 1", async () => {
    const path = mapFile(`${HEAD}com,b)/ 1\ncom,a)/ 1\ncom,c)/ many\ncom,d)/ 1 2 3\n`);
    const { code, stdout, stderr } = await runCli(["validate", path]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "3 errors, 0 warnings\n" });
    expect(stdout.split("\n").map((line) => line.replace(/: error: .* \[/, " ["))).toEqual([
      `${path}:4 [not-sorted]`,
      `${path}:5 [bad-frequency]`,
      `${path}:6 [bad-columns]`,
      "",
    ]);
  });

  it("lets warnings pass unless told to be strict", async () => {
    const path = mapFile(`${HEAD}com,a) 1\n`);
    const lenient = await runCli(["validate", path]);
    expect(lenient).toMatchObject({ code: 0, stderr: "0 errors, 1 warning\n" });
    expect(lenient.stdout).toContain(`${path}:3: warning: `);
    expect(await runCli(["validate", "--strict", "-q", path])).toEqual({
      code: 1,
      stdout: lenient.stdout,
      stderr: "",
    });
  });

  it("writes JSON Lines", async () => {
    const { code, stdout } = await runCli(["validate", "--json"], {
      stdin: gzipSync(`${HEAD}com,a)/ x\n`),
    });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      source: "stdin",
      line: 3,
      severity: "error",
      code: "bad-frequency",
      message: expect.stringContaining('"x"'),
    });
  });

  it("checks several maps", async () => {
    const [good, bad] = [mapFile(`${HEAD}com,a)/ 1\n`), mapFile(`${HEAD}com,a)/ x\n`)];
    const { code, stdout } = await runCli(["validate", good, bad]);
    expect(code).toBe(1);
    expect(stdout.startsWith(`${bad}:3: `)).toBe(true);
  });

  it.each([
    ["binary data", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 255, 10, 254, 10])],
    ["a line of 10 MB", `${HEAD}${"x".repeat(10_000_000)}`],
    ["a bad header", "!fields {\n"],
  ])("reports %s as a fault", async (_name, bytes) => {
    const { code, stdout, stderr } = await runCli(["validate", mapFile(bytes)]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/map\.ukvs:\d+: error: /);
    expect(stderr).toMatch(/^\d+ errors?, /);
  });

  it("fails when a file cannot be read", async () => {
    const cut = await runCli(["validate", mapFile(gzipSync(HEAD.repeat(99)).subarray(0, 50))]);
    expect(cut).toMatchObject({ code: 2, stderr: expect.stringContaining("[MM_BAD_INPUT]") });
    expect(await runCli(["validate", "none"])).toMatchObject({ code: 2 });
    expect((await runCli(["validate", "-", "-"])).stderr).toContain("only once");
  });
});
