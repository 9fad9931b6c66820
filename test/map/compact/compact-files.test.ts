import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { findCuts, isSafeCut } from "../../../src/map/compact/run/compact-files.ts";
import { compactByOracle } from "../../support/compaction-oracle.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { sized } from "../../support/sized-map.ts";
import { isBuilt, runBuilt } from "../generate/built-cli.ts";

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
    const argv = ["compact", "-q", "--threads", "1", ...weights];
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

  it("says what it did", async () => {
    const { stderr } = await runCli(["compact", "--json", "--path-weight", "0"], {
      stdin: "com,a)/x 1\ncom,a)/y 2\ncom,b)/ 1\n",
    });
    expect(JSON.parse(stderr)).toMatchObject({ rowsRead: 3, rows: 2, rollUps: 1, bytes: 21 + 60 });
  });
});

describe("findCuts", () => {
  it("cuts only where it is safe, blank lines or not", async () => {
    const folder = scratchDir();
    const path = join(folder, "map");
    const rows = manyRows(200);
    for (const newline of ["\n", "\r\n", "\n\n"]) {
      const text = rows.map((row) => `${row}${newline}`).join("");
      writeFileSync(path, text);
      const file = await open(path);
      try {
        for (const parts of [1, 2, 3, 50]) {
          const cuts = findCuts(file, 0, text.length, parts);
          expect(cuts[0]).toBe(0);
          expect(cuts.at(-1)).toBe(text.length);
          expect(cuts.length).toBeGreaterThan(parts / 2);
          expect(cuts).toEqual(cuts.toSorted((a, b) => a - b));
          for (const cut of cuts.slice(1, -1)) {
            const [key = ""] = text.slice(cut).split(" ", 1);
            const before = text.slice(0, cut).trimEnd().split("\n").at(-1)?.split(" ", 1)[0] ?? "";
            const [a, b] = [Buffer.from(before), Buffer.from(key)];
            expect(isSafeCut(a, a.length, b, b.length)).toBe(true);
          }
        }
      } finally {
        await file.close();
      }
    }
  });

  it("leaves in one part what cannot be cut", async () => {
    const path = join(scratchDir(), "map");
    const text = Array.from({ length: 1000 }, (_, i) => `com,a)/${i + 1000} 1\n`).join("");
    writeFileSync(path, text);
    const file = await open(path);
    try {
      expect(findCuts(file, 0, text.length, 4)).toEqual([0, text.length]);
    } finally {
      await file.close();
    }
  });
});

describe.skipIf(!isBuilt)("compact on threads (needs npm run build)", () => {
  const rows = manyRows(400);

  it.each([
    ["0.5", "0.25"],
    ["0", "0"],
  ])("gives the same bytes on 1, 2 and 3 threads: weights %s and %s", async (host, path) => {
    const folder = scratchDir();
    const [map, blank] = [join(folder, "map"), join(folder, "blank")];
    writeFileSync(map, mapText(rows));
    writeFileSync(blank, `${HEADERS}\n${rows.join("\r\n\r\n")}`);
    const weights = ["--host-weight", host, "--path-weight", path];
    const options = { hostWeight: Number(host), pathWeight: Number(path) };
    const expected = sized(mapText(compactByOracle(rows, options)));
    for (const [input, threads] of [
      [map, "1"],
      [map, "2"],
      [map, "3"],
      [blank, "3"],
    ] as const) {
      const argv = ["compact", "-q", "--threads", threads, "--tmp", folder, ...weights, input];
      const { code, stdout, stderr } = await runBuilt(argv);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout === expected).toBe(true);
    }
    expect(readdirSync(folder).sort()).toEqual(["blank", "map"]);
  });

  it("tells the line of a fault in any part, and leaves nothing behind", async () => {
    const folder = scratchDir();
    const scratch = join(folder, "scratch");
    mkdirSync(scratch);
    const map = join(folder, "map");
    for (const at of [10, Math.floor(rows.length / 2), rows.length - 1]) {
      const faulty = rows.toSpliced(at, 1, `${rows[at]?.split(" ", 1).join()} many`);
      writeFileSync(map, mapText(faulty));
      const argv = [
        "compact",
        "--threads",
        "3",
        "--tmp",
        scratch,
        map,
        "-o",
        join(folder, "small"),
      ];
      expect(await runBuilt(argv)).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(
          new RegExp(`^mementomap: ${map}:${at + 3}: .*"many".*\\[MM_BAD_FREQUENCY\\]\n$`),
        ),
      });
      expect(readdirSync(scratch)).toEqual([]);
      expect(readdirSync(folder).sort()).toEqual(["map", "scratch"]);
    }
  });
});
