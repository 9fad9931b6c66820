import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { compactByOracle } from "../support/compaction-oracle.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { sized } from "../support/sized-map.ts";

const HEADERS = '!context ["https://git.io/mementomap"]\n!meta {"name":"A"}\n';

/** Sorted rows of many hosts of many sizes, with exclusions, wildcards and hosts that lie within others. */
function manyRows(hosts: number): string[] {
  const rows: string[] = [];
  for (let h = 0; h < hosts; h++) {
    const host = `com,host${String(h).padStart(5, "0")}`;
    const pages = (h * 7919) % 60;
    for (let p = 0; p < pages; p++) rows.push(`${host})/f${p % 7}/page-${p} ${1 + ((h + p) % 9)}`);
    rows.push(`${host})/ 3`, `${host},www)/x 1`, `${host}+x)/ 2`, `${host}-y)/ 2`);
    if (h % 11 === 0) rows.push(`${host})/f1/private/* 0`, `${host})/f2/* 900+`);
    if (h % 13 === 0) for (let s = 0; s < 50; s++) rows.push(`${host},s${s})/ 1`);
  }
  return rows.sort((a, b) => (a.split(" ", 1).join() < b.split(" ", 1).join() ? -1 : 1));
}

function mapText(rows: readonly string[]): string {
  return `${HEADERS}${rows.join("\n")}\n`;
}

describe("compact", () => {
  const rows = manyRows(300);
  const expected = sized(mapText(compactByOracle(rows, { hostWeight: 1, pathWeight: 0.5 })));
  const weights = ["--host-weight", "1", "--path-weight", "0.5"];

  it("gives the same bytes from a file, stdin and gzip, to a file, stdout and gzip", async () => {
    const folder = scratchDir();
    const text = mapText(rows);
    const [plain, zipped, target] = ["map", "map.gz", "small"].map((name) => join(folder, name));
    writeFileSync(plain ?? "", text);
    writeFileSync(zipped ?? "", gzipSync(text));
    const argv = ["compact", "-q", ...weights];
    for (const input of [plain, zipped]) {
      expect(await runCli([...argv, input ?? ""])).toEqual({
        code: 0,
        stdout: expected,
        stderr: "",
      });
    }
    for (const stdin of [text, gzipSync(text), text.replaceAll("\n", "\r\n"), text.slice(0, -1)]) {
      expect(await runCli(argv, { stdin })).toEqual({ code: 0, stdout: expected, stderr: "" });
    }
    await runCli([...argv, plain ?? "", "-o", target ?? ""]);
    expect(readFileSync(target ?? "", "utf8")).toBe(expected);
    await runCli([...argv, plain ?? "", "-o", `${target}.gz`]);
    expect(
      (
        await runCli([
          "compact",
          "-q",
          "--host-weight",
          "inf",
          "--path-weight",
          "inf",
          `${target}.gz`,
        ])
      ).stdout,
    ).toBe(expected);
  });

  it("tells the line of a fault, and leaves nothing behind", async () => {
    const folder = scratchDir();
    const scratch = join(folder, "scratch");
    mkdirSync(scratch);
    const map = join(folder, "map");
    for (const at of [10, rows.length - 1]) {
      const faulty = rows.toSpliced(at, 1, `${rows[at]?.split(" ", 1).join()} many`);
      writeFileSync(map, mapText(faulty));
      expect(
        await runCli(["compact", "--tmp", scratch, map, "-o", join(folder, "small")]),
      ).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(`^mementomap: ${map}:${at + 3}: .*"many".*FREQUENCY`),
      });
      expect(readdirSync(scratch)).toEqual([]);
      expect(readdirSync(folder).sort()).toEqual(["map", "scratch"]);
    }
  });

  it("says what it did", async () => {
    const { stderr } = await runCli(["compact", "--json", "--path-weight", "0"], {
      stdin: "com,a)/x 1\ncom,a)/y 2\ncom,b)/ 1\n",
    });
    expect(JSON.parse(stderr)).toMatchObject({ rowsRead: 3, rows: 2, rollUps: 1, bytes: 21 + 60 });
  });
});
