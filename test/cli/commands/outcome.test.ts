import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { BIN } from "../../support/spawn-cli.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

/** A folder with an index of a sample archive, its map, and maps that differ in every row. */
async function files(): Promise<(name: string) => string> {
  const folder = scratchDir();
  const at = (name: string): string => join(folder, name);
  writeFileSync(at("i.cdxj"), Buffer.concat([...sampleIndex({ lines: 500 })]));
  await runCli(["generate", "-q", at("i.cdxj"), "-o", at("m.ukvs")]);
  return at;
}

describe("what commands have in common", () => {
  it("writes JSON alone to standard error with --json, and warnings even with -q", async () => {
    const at = await files();
    writeFileSync(at("empty.cdxj"), "");
    writeFileSync(at("uris.txt"), "http://a.example/\n");
    const runs = [
      ["generate", at("empty.cdxj")],
      ["analyze", at("empty.cdxj")],
      ["logs", at("empty.cdxj")],
      ["sample", "--lines", "10"],
      ["validate", at("m.ukvs")],
      ["lookup", at("m.ukvs"), "--batch", at("uris.txt")],
      ["merge", at("m.ukvs")],
      ["compact", at("m.ukvs")],
      ["split", at("m.ukvs"), "--pages", "1", "-o", at("pages")],
    ];
    for (const argv of runs) {
      const { stderr } = await runCli([...argv, "--json"]);
      const lines = stderr.split("\n").slice(0, -1);
      expect([argv[0], lines.length > 0]).toEqual([argv[0], true]);
      for (const line of lines) expect(JSON.parse(line)).toBeTypeOf("object");
    }
    for (const command of ["generate", "analyze", "logs"]) {
      const { code, stderr } = await runCli([command, "-q", at("empty.cdxj")]);
      expect([command, code]).toEqual([command, 0]);
      expect(stderr).toMatch(/^mementomap: warning: .*\n$/);
    }
  });

  it("reads standard input once, and writes one thing to standard output", async () => {
    const at = await files();
    for (const argv of [
      ["merge", "-", "-"],
      ["diff", "-", "-"],
      ["validate", "-", "-"],
      ["lookup", "-", "--batch", "-"],
      ["evaluate", "-", "--truth", "-", "--lookups", at("i.cdxj")],
    ]) {
      const { code, stderr } = await runCli(argv);
      expect([argv[0], code]).toEqual([argv[0], 2]);
      expect(stderr).toContain("standard input can be read only once");
    }
    const { code, stdout, stderr } = await runCli(["analyze", at("i.cdxj"), "--html", "-"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("is named for two outputs");
  });

  it("writes no folder of files where there is something", async () => {
    const at = await files();
    const { code, stderr } = await runCli(["analyze", at("i.cdxj"), "--csv", join(at("."))]);
    expect(code).toBe(2);
    expect(stderr).toContain("already exists and is not empty");
    expect(existsSync(at("tlds.csv"))).toBe(false);
  });

  it("says that it waits for input only where it reads some", async () => {
    const at = await files();
    const hasScript = spawnSync("script", ["--version"]).status === 0;
    if (!hasScript) return;
    const typed = (command: string): string =>
      execFileSync("script", ["-qec", command, "/dev/null"], { encoding: "utf8", input: "\u0004" });
    const mm = `${process.execPath} ${BIN}`;
    expect(typed(`${mm} compact ${at("m.ukvs")} -o ${at("small.ukvs")}`)).not.toContain("Ctrl-D");
    expect(typed(`${mm} surt`).split("Ctrl-D")).toHaveLength(2);
  });
});

describe("diff", () => {
  it("exits with 1 for maps that differ, though nobody reads all of it", async () => {
    const folder = scratchDir();
    const rows = (n: number): string =>
      Array.from({ length: 20_000 }, (_, i) => `com,${String(i).padStart(6, "0")})/ ${n}\n`).join(
        "",
      );
    const [a, b] = [1, 2].map((n) => {
      const path = join(folder, `${n}.ukvs`);
      writeFileSync(path, rows(n));
      return path;
    });
    const script = `${process.execPath} ${BIN} diff ${a} ${b} | head -1 >/dev/null; echo \${PIPESTATUS[0]}`;
    expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe("1\n");
  });
});

describe("compact", () => {
  it.each(["--host-weight", "--path-weight"])(
    "refuses a size beside %s, also at its default",
    async (name) => {
      const at = await files();
      const weight = name === "--host-weight" ? "4" : "2";
      const argv = ["compact", at("m.ukvs"), name, weight, "--max-lines", "100"];
      const { code, stderr } = await runCli(argv);
      expect(code).toBe(2);
      expect(stderr).toContain("use either weights (--host-weight …) or a target size");
    },
  );
});

describe("fit", () => {
  /** A map whose hosts and paths have so many children at each depth. */
  function mapOf(hostChildren: readonly number[], pathChildren: readonly number[]): string {
    const below = (names: readonly string[], count: number, sign: string): string[] =>
      names.flatMap((name) => Array.from({ length: count }, (_, i) => `${name}${sign}${i}`));
    const grow = (name: string, counts: readonly number[], sign: string): string[] =>
      counts.reduce((names, count) => below(names, count, sign), [name]);
    const hosts = grow("com,a", hostChildren, ",n").map((host) => `${host})/`);
    const rows = [...hosts, ...grow("com,b)", pathChildren, "/p")].map((key) => `${key} 1\n`);
    const path = join(scratchDir(), "m.ukvs");
    const head = '!fields {"keys":["surt"],"values":["frequency"]}\n';
    writeFileSync(path, head + rows.toSorted().join(""));
    return path;
  }

  it("prints a command that compact accepts", async () => {
    const map = mapOf([8, 4, 3, 2, 1], [9, 4, 3, 2]);
    const { stdout } = await runCli(["fit", map]);
    const [, ...argv] = stdout.trim().split("\n").at(-1)?.split(" ") ?? [];
    expect(argv).toContain("--host-power");
    const named = argv.map((word) => word.replace("small.ukvs", `${map}.small`));
    expect(await runCli([...named, "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("recommends no law that rises with depth, or that fits badly", async () => {
    const { stdout } = await runCli(["fit", mapOf([1, 2, 3, 4], [3, 9, 1, 8])]);
    expect(stdout).not.toContain("^--");
    expect(stdout).not.toContain("power");
    expect(stdout.match(/compact cannot use it/g)).toHaveLength(2);
  });
});

describe("analyze", () => {
  it("believes no capture in the future", async () => {
    const path = join(scratchDir(), "i.cdxj");
    const row = (time: string): string =>
      `com,a)/ ${time} {"url":"http://a.com/","mime":"text/html","status":"200"}\n`;
    writeFileSync(path, row("20100101000000") + row("20990101000000"));
    const { stdout } = await runCli(["analyze", "--json", "-q", path]);
    const { index, years, malformed } = JSON.parse(stdout);
    expect([index.first, index.last]).toEqual(["20100101000000", "20100101000000"]);
    expect(years.map(({ year }: { year: number }) => year)).toEqual([2010]);
    expect(malformed.datetimes).toMatchObject([{ fault: "in the future", count: 1 }]);
  });
});

describe("serve", () => {
  it("takes its settings from the environment and from a file", async () => {
    const at = await files();
    const byVariable = await runCli(["serve", at("m.ukvs")], { env: { MEMENTOMAP_PORT: "no" } });
    expect(byVariable).toMatchObject({ code: 2, stdout: "" });
    expect(byVariable.stderr).toContain("MEMENTOMAP_PORT: ");
    writeFileSync(at("settings.json"), '{"prot": 1}');
    const byFile = await runCli(["serve", at("m.ukvs"), "--config", at("settings.json")]);
    expect(byFile.stderr).toContain('did you mean "port"?');
    expect(readFileSync(at("settings.json"), "utf8")).toContain("prot");
  });
});
