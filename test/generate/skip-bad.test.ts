import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { IndexCounts } from "../../src/generate/index-counts.ts";
import type { Damage } from "../../src/bytes/damage.ts";
import { TaskReader } from "../../src/input/read-task.ts";
import { RowReader } from "../../src/input/row-reader.ts";
import { KeyTable } from "../../src/generate/key-table.ts";
import { GENERATE } from "../../src/generate/key-counter.ts";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import { warcRecord } from "../support/warc-fixture.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const LINES = Array.from(
  { length: 60 },
  (_, i) => `com,example)/${100 + i} 20140101000000 {"url": "http://example.com/${100 + i}"}`,
);
const ROWS = LINES.map((line) => `${line.split(" ", 1)[0]} 1`);

/** Six members of ten lines. */
function members(): Buffer[] {
  return Array.from({ length: 6 }, (_, i) =>
    gzipSync(
      LINES.slice(10 * i, 10 * i + 10)
        .map((line) => `${line}\n`)
        .join(""),
    ),
  );
}

/** The same, with the fourth one damaged. */
function damaged(): Buffer {
  const list = members();
  list[3].fill(0xff, 30, 60);
  return Buffer.concat(list);
}

const WITHOUT_FOURTH = ROWS.filter((_, i) => i < 30 || i >= 40);

function fileWith(name: string, content: string | Uint8Array): string {
  const path = join(scratchDir(), name);
  writeFileSync(path, content);
  return path;
}

function rowsIn(map: string): string[] {
  return map.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

/** The summary comes after warnings. */
function lastLine(stderr: string): unknown {
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
}

async function generate(argv: readonly string[], stdin?: Uint8Array) {
  const world = stdin === undefined ? {} : { stdin };
  const result = await runCli(["generate", "--threads", "1", "--json", ...argv], world);
  const summary = lastLine(result.stderr) as IndexCounts & { damages: Damage[]; error?: unknown };
  return { ...result, rows: rowsIn(result.stdout), summary };
}

describe("generate --skip-bad", () => {
  it("goes on behind a damaged gzip member, says which, and counts it", async () => {
    const path = fileWith("index.cdxj.gz", damaged());
    const { code, stdout, stderr } = await runCli(["generate", "--skip-bad", path]);
    expect(code).toBe(0);
    expect(rowsIn(stdout)).toEqual(WITHOUT_FOURTH);
    const [offset, length] = [members().slice(0, 3), members().slice(3, 4)].map(
      (list) => Buffer.concat(list).length,
    );
    const [warning, ...summary] = stderr.split("\n");
    expect(warning).toMatch(`mementomap: warning: ${path}: the gzip member at byte ${offset} is `);
    expect(warning).toMatch(new RegExp(`; ${length} bytes skipped$`));
    expect(summary.join("\n")).toMatch(/^damaged +1 +\d+ B skipped, see above$/m);
    const quiet = await runCli(["generate", "--skip-bad", "-q", path]);
    expect(quiet).toMatchObject({ code: 0, stdout, stderr: `${warning}\n` });
  });

  it("is needed for it", async () => {
    const path = fileWith("index.cdxj.gz", damaged());
    const { code, stderr } = await runCli(["generate", path]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/the compressed data is damaged .*\[MM_BAD_INPUT\]$/m);
  });

  it("does the same for standard input", async () => {
    const { rows, summary } = await generate(["--skip-bad"], damaged());
    expect(rows).toEqual(WITHOUT_FOURTH);
    expect(summary).toMatchObject({ lines: 50, counted: 50, bad: 0, damaged: 1 });
    expect(summary.damages).toMatchObject([{ source: "stdin" }]);
  });

  it("names the first few places only", async () => {
    const list = Array.from({ length: 9 }, members).flat();
    for (let i = 1; i < list.length; i += 6) list[i].fill(0xff, 30, 60);
    const path = fileWith("index.cdxj.gz", Buffer.concat(list));
    const { stderr } = await runCli(["generate", "--skip-bad", path]);
    expect(stderr.match(/^mementomap: warning: .*index\.cdxj\.gz: /gm)).toHaveLength(5);
    expect(stderr).toMatch(/^mementomap: warning: 4 more places skipped$/m);
  });

  it("counts a line that damage has cut as a bad line, so that counts add up", async () => {
    const text = LINES.join("\n");
    const path = fileWith("index.cdxj.gz", gzipSync(text).subarray(0, -60));
    const { rows, summary } = await generate(["--skip-bad", path]);
    expect(rows).toEqual(ROWS.slice(0, rows.length));
    expect(summary).toMatchObject({ bad: 1, damaged: 1, lines: rows.length + 1 });
    expect(summary.counted + summary.bad).toBe(summary.lines);
  });

  it("detects the format of a file whose first member is damaged", async () => {
    const list = members();
    list[0].fill(0xff, 30, 60);
    for (const stdin of [undefined, Buffer.concat(list)]) {
      const paths = stdin === undefined ? [fileWith("i.gz", Buffer.concat(list))] : [];
      const { rows } = await generate(["--skip-bad", ...paths], stdin);
      expect(rows).toEqual(ROWS.slice(10));
    }
  });

  it("passes over blocks of a ZipNum cluster", async () => {
    for (const block of [0, 3, 5]) {
      const folder = scratchDir();
      const { data, index } = zipNum(LINES, 10, "index.cdx.gz");
      const { offset, length } = blockOf(index, block);
      data.fill(0xff, offset, offset + length - 20);
      writeFileSync(join(folder, "index.idx"), index);
      writeFileSync(join(folder, "index.cdx.gz"), data);
      const { rows, summary } = await generate(["--skip-bad", folder]);
      expect(rows).toEqual(ROWS.filter((_, i) => Math.floor(i / 10) !== block));
      expect(summary).toMatchObject({ damaged: 1, damagedBytes: length });
      expect((await generate([folder])).code).toBe(2);
    }
  });

  it("reads the blocks of a ZipNum cluster whose data is cut off", async () => {
    const folder = scratchDir();
    const { data, index } = zipNum(LINES, 10, "index.cdx.gz");
    const { offset } = blockOf(index, 4);
    writeFileSync(join(folder, "index.idx"), index);
    writeFileSync(join(folder, "index.cdx.gz"), data.subarray(0, offset + 7));
    const { rows, summary } = await generate(["--skip-bad", folder]);
    expect(rows).toEqual(ROWS.slice(0, 40));
    expect(summary).toMatchObject({ damaged: 1, damagedBytes: 7 });
    expect((await generate([folder])).code).toBe(2);
  });

  it("passes over records of WARC files, also within WACZ files, whose own faults stay errors", async () => {
    const uris = Array.from({ length: 5 }, (_, i) => `http://example.com/${i}`);
    const records = uris.map((uri) =>
      gzipSync(warcRecord({ type: "resource", uri, body: uri.repeat(9) })),
    );
    records[2].fill(0xff, 30, 60);
    const warc = Buffer.concat(records);
    const wacz = zipFile([{ name: "archive/x.warc.gz", data: warc }]);
    const expected = ["0", "1", "3", "4"].map((name) => `com,example)/${name} 1`);
    for (const path of [fileWith("x.warc.gz", warc), fileWith("x.wacz", wacz)]) {
      const { rows, summary } = await generate(["--skip-bad", path]);
      expect(rows).toEqual(expected);
      expect(summary).toMatchObject({ damaged: 1, damagedBytes: records[2].length });
    }
    const cut = fileWith("cut.wacz", wacz.subarray(0, -30));
    expect((await generate(["--skip-bad", cut])).code).toBe(2);
  });

  it("does not take a file that becomes shorter while it is read for one that is cut off", async () => {
    const path = fileWith("x.cdxj.gz", damaged());
    const size = damaged().length;
    truncateSync(path, size - 40);
    const keys = { originals: false, datetimeDigits: 0 };
    const options = { filter: {}, skipBad: true, maxLineBytes: 1 << 20 };
    const sink = GENERATE.openSink(keys, new KeyTable(1 << 20), () => undefined);
    const task = { kind: "file", path, source: path, size, format: { name: "surts" } } as const;
    const read = new TaskReader(new RowReader(sink, options), options).read(task);
    await expect(read).rejects.toMatchObject({ code: "MM_IO" });
  });

  it("gives the same on two threads as on one", async () => {
    const folder = scratchDir();
    const inputs = join(folder, "inputs");
    mkdirSync(inputs);
    const text = Buffer.concat([...sampleIndex({ lines: 300_000 })]).toString();
    const lines = text.split(/(?<=\n)/);
    const blocks: Buffer[] = [];
    for (let at = 0; at < lines.length; at += 3000) {
      blocks.push(gzipSync(lines.slice(at, at + 3000).join(""), { level: 1 }));
    }
    for (let i = 5; i < blocks.length; i += 20) blocks[i].fill(0, 5000, 5100);
    const one = join(folder, "one.cdxj.gz");
    writeFileSync(one, Buffer.concat(blocks));
    const half = blocks.length >> 1;
    writeFileSync(join(inputs, "a.cdxj.gz"), Buffer.concat(blocks.slice(0, half)));
    writeFileSync(join(inputs, "b.cdxj.gz"), Buffer.concat(blocks.slice(half)));
    const run = async (threads: number, input: string) => {
      const options = ["--skip-bad", "--json", "--threads", String(threads), "--memory", "200m"];
      const env = { SOURCE_DATE_EPOCH: "0" };
      const { stdout, stderr, code } = await spawnCli(["generate", ...options, input], folder, env)
        .done;
      expect(code).toBe(0);
      const summary = lastLine(stderr) as IndexCounts & { damages: Damage[] };
      const { lines: read, captures, damaged: places, damagedBytes, damages } = summary;
      return { rows: rowsIn(stdout), read, captures, places, damagedBytes, damages };
    };
    const expected = await run(1, one);
    const lost = blocks.filter((_, i) => i % 20 === 5).length;
    expect(expected).toMatchObject({ places: lost, read: lines.length - 3000 * lost });
    expect(await run(2, one)).toEqual(expected);
    const parts = await run(1, inputs);
    expect({ ...parts, damages: [] }).toEqual({ ...expected, damages: [] });
    expect(await run(2, inputs)).toEqual(parts);
  });
});

function blockOf(index: string, block: number): { offset: number; length: number } {
  const [, , offset, length] = (index.split("\n")[block] ?? "").split("\t");
  return { offset: Number(offset), length: Number(length) };
}
