import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { ROOT } from "../support/code-blocks.ts";
import { sharedData } from "../support/shared-data.ts";
import { warcGz } from "../support/warc-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";
import { SPARK_ENVIRONMENT, SPARK_HOME, SparkSession } from "./spark-session.ts";

/** `MEMENTOMAP_SPARK_LINES=4000000` for the long round. */
const LINES = Number(process.env["MEMENTOMAP_SPARK_LINES"] ?? 50_000);
const isLong = LINES >= 1_000_000;
const PARTITIONS = isLong ? [1, 7, 64] : [1, 7];
/** A size of splits that is right for the short round; larger in the long one, for as many splits. */
const bytes = (size: number): string => String(Math.ceil((size * LINES) / 50_000));

let folder = "";
const at = (name: string): string => join(folder, name);

/** Runs the command on this machine alone. */
function local(...args: readonly string[]): void {
  execFileSync(process.execPath, [join(ROOT, "dist/cli/bin.js"), ...args, "-q"], {
    env: SPARK_ENVIRONMENT,
    stdio: "pipe",
  });
}

/** The parts in a folder; the local file system of Hadoop puts checksums beside them. */
function partsIn(path: string): string[] {
  return readdirSync(path).filter((name) => name.endsWith(".ukvs"));
}

describe.skipIf(SPARK_HOME === undefined)("maps of Spark", () => {
  let session: SparkSession | undefined;

  /** Runs a command in Spark, which must not fail. */
  async function spark(...args: readonly string[]): Promise<Record<string, number>> {
    const { status, told } = (await session?.run(...args)) ?? { status: -1, told: "no session" };
    expect({ args, status, told }).toEqual({ args, status: 0, told });
    const figures = told.split("\n").find((line) => line.startsWith("{")) ?? "{}";
    return JSON.parse(figures) as Record<string, number>; // what the command tells
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
    // A tenth of all lines are of one domain.
    const lines = Math.round(LINES * 0.9);
    const big = Math.floor(LINES / 10);
    const skewed = Array.from({ length: big }, (_, i) => {
      const [host, path] = [`h${i % 300}`, `${i % 7}/${Math.floor(i / 3)}`];
      return `pt,big,${host})/${path} 20140101000000 {"url": "http://${host}.big.pt/${path}", "mime": "text/html", "status": "200"}\n`;
    });
    writeFileSync(at("index.cdxj"), Buffer.concat([...sampleIndex({ lines })]));
    writeFileSync(at("big.cdxj"), skewed.join(""));
    // Files on this mount are on another file system to tasks, and are copied.
    session = new SparkSession("local[2]", {
      "spark.hadoop.fs.viewfs.mounttable.default.link./data": `file://${folder}`,
    });
    await session.ready();
  });

  afterAll(async () => {
    await session?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const indexes = (): string[] => [at("index.cdxj"), at("big.cdxj")];

  /** Whether the parts in a folder, merged, are the map that one machine made of the same inputs. */
  function isLocal(parts: string): boolean {
    const paths = partsIn(parts).map((name) => join(parts, name));
    local("merge", ...paths.toSorted(), "-o", at("merged.ukvs"), "--force");
    return readFileSync(at("merged.ukvs")).equals(readFileSync(at("local.ukvs")));
  }

  it.each(PARTITIONS)("have the bytes of one machine with %i partitions", async (partitions) => {
    const size = Math.ceil(readFileSync(at("index.cdxj")).length / partitions);
    const cut = ["--split-size", String(size), "--ranges", String(partitions), "--force"];
    local("generate", ...indexes(), "-o", at("local.ukvs"));
    const figures = await spark("generate", ...indexes(), ...cut, "-o", at("spark"));
    expect(isLocal(at("spark"))).toBe(true);
    expect(figures["lines"]).toBe(Math.round(LINES * 0.9) + Math.floor(LINES / 10));
    expect(figures["ranges"]).toBe(partitions);
    expect(figures["rows"]).toBeGreaterThan(1000);
  });

  it("are made of other file systems, and written there whole or not at all", async () => {
    mkdirSync(at("mount"));
    // Columns are told by the first line alone, which only the first split has.
    const rows = Array.from(
      { length: 5000 },
      (_, i) => `200 http://e${i % 50}.org/${i} 20140102030405 text/html\n`,
    );
    writeFileSync(at("mount/odd.cdx"), ` CDX s a b m\n${rows.join("")}`);
    writeFileSync(at("mount/more.cdxj.gz"), gzipSync(readFileSync(at("big.cdxj"))));
    local("generate", at("mount"), at("big.cdxj"), "-o", at("local.ukvs"));
    const inputs = ["viewfs:///data/mount", "viewfs:///data/big.cdxj"];
    const output = ["-o", "viewfs:///data/out/map"];
    await spark("generate", ...inputs, ...output, "--split-size", bytes(40_000), "--ranges", "3");
    expect(isLocal(at("out/map"))).toBe(true);
    expect(partsIn(at("out/map"))).toHaveLength(3);
    expect(readdirSync(at("out"))).toEqual(["map"]);

    // What is there stays, and is not touched by a run that fails.
    const again = await session?.run("generate", ...inputs, "-o", "viewfs:///data/out/map");
    expect(again?.told).toContain("already exists");
    writeFileSync(at("mount/bad.cdxj"), `${readFileSync(at("big.cdxj"), "utf8")}not a line\n`);
    const [input, map] = ["viewfs:///data/mount/bad.cdxj", "viewfs:///data/bad"];
    const bad = await session?.run("generate", input, "-o", map, "--split-size", bytes(100_000));
    expect(bad?.told).toMatch(
      /viewfs:\/data\/mount\/bad\.cdxj \(from byte \d+\):\d+: expected a datetime of 4 to 17 digits after the key: "not a line"/,
    );
    expect(bad?.status).toBe(2);
    expect(readdirSync(folder).filter((name) => /^_?bad(?!\.)/.test(name))).toEqual([]);
  });

  it("are made of ZipNum clusters, with queries and filters", async () => {
    mkdirSync(at("cluster"));
    const rows = readFileSync(at("index.cdxj"), "utf8").split("\n").slice(0, -1);
    const { data, index } = zipNum(rows, 3000, "cdx-00000.gz");
    writeFileSync(at("cluster/cdx-00000.gz"), data);
    writeFileSync(at("cluster/cluster.idx"), index);
    const options = ["--queries", "--status", "200", "--id", "https://archive.example.org/"];
    local("generate", ...options, at("cluster"), "-o", at("local.ukvs"), "--force");
    for (const input of [at("cluster"), "viewfs:///data/cluster"]) {
      const cut = ["--split-size", bytes(1_000_000), "--ranges", "4", "--force"];
      await spark("generate", ...options, input, ...cut, "-o", at("spark"));
      expect(isLocal(at("spark"))).toBe(true);
    }
  });

  it("are made of WARC and Parquet files, whole ones", async () => {
    mkdirSync(at("files"));
    const pages = Array.from({ length: 60 }, (_, i) => `http://w${i % 7}.example.org/${i}`);
    const http = "HTTP/1.1 200 OK\nContent-Type: text/html";
    for (const part of [0, 1, 2]) {
      const own = pages.slice(20 * part, 20 * part + 20);
      const records = own.map((uri) => ({ type: "response", uri, http, body: "<p>page</p>" }));
      writeFileSync(at(`files/${part}.warc.gz`), warcGz(records));
    }
    const parquet = parquetWriteBuffer({
      columnData: [
        { name: "url", data: pages, type: "STRING" },
        { name: "fetch_time", data: pages.map(() => new Date(1.4e12)), type: "TIMESTAMP" },
        { name: "fetch_status", data: pages.map(() => 200), type: "INT32" },
        { name: "content_mime_type", data: pages.map(() => "text/html"), type: "STRING" },
      ],
    });
    writeFileSync(at("pages.parquet"), Buffer.from(parquet));
    for (const inputs of [["files"], ["pages.parquet"]]) {
      local("generate", ...inputs.map(at), "-o", at("local.ukvs"), "--force");
      const cut = ["--split-size", "500", "--ranges", "2", "--force"];
      const mounted = inputs.map((name) => `viewfs:///data/${name}`);
      const { captures } = await spark("generate", ...mounted, ...cut, "-o", at("spark"));
      expect(captures).toBeGreaterThanOrEqual(60);
      expect(isLocal(at("spark"))).toBe(true);
    }
    const both = ["files/0.warc.gz", "pages.parquet"].map((name) => `viewfs:///data/${name}`);
    const refused = await session?.run("generate", ...both, "-o", at("both"));
    expect(refused?.told).toContain("may hold the same captures");
  });

  const real = sharedData("cdx-real");
  it.skipIf(real === undefined)("of real indexes (skipped where missing)", async () => {
    const files = readdirSync(real ?? "").filter((name) => /\.cdxj?$/.test(name));
    const paths = files.map((name) => join(real ?? "", name));
    local("generate", ...paths, "-o", at("local.ukvs"), "--force");
    const cut = ["--split-size", "100k", "--ranges", "7", "--force"];
    await spark("generate", ...paths, ...cut, "-o", at("spark"));
    expect(isLocal(at("spark"))).toBe(true);
  });

  const holdings = sharedData("eot-a.holdings.tsv.gz");
  it.skipIf(holdings === undefined || !isLong)(
    "of real holdings (skipped where missing, and in the short round)",
    async () => {
      const text = gunzipSync(readFileSync(holdings ?? "")).toString();
      const keys = text.split("\n").map((row) => row.split("\t")[0]);
      writeFileSync(at("keys.txt"), keys.filter((key) => /^[a-z0-9,-]+\)\//.test(key)).join("\n"));
      const options = ["--format", "surts"];
      const cut = ["--split-size", "8m", "--ranges", "7", "--force"];
      local("generate", ...options, at("keys.txt"), "-o", at("local.ukvs"), "--force");
      await spark("generate", ...options, at("keys.txt"), ...cut, "-o", at("spark"));
      expect(isLocal(at("spark"))).toBe(true);
    },
  );
});
