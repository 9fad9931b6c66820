import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Interrupt } from "../../src/interruption.ts";
import { runCli } from "../support/run-cli.ts";
import { zipNum } from "../support/zipnum-fixture.ts";
import type { Crawl } from "./crawl.ts";
import { crawl } from "./crawl.ts";
import { freePort, output, program, startServer } from "./programs.ts";

/*
 * Real WARC files, made and indexed by real programs, must give the map that we make of the WARC
 * files themselves. To run all of it:
 *
 *     python3 -m venv peers && peers/bin/pip install warcio cdxj-indexer pywb wacz 'setuptools<81'
 *     MEMENTOMAP_PEERS=$PWD/peers OUTBACKCDX_JAR=outbackcdx.jar npm run test:all -- --project peers
 */
const wget = program("wget");
const cdxIndexer = program("cdx-indexer");
const cdxjIndexer = program("cdxj-indexer");
const wacz = program("wacz");
const warcio = program("warcio");
const wayback = program("wayback");
const wbManager = program("wb-manager");
const java = program("java");
const outbackJar = process.env["OUTBACKCDX_JAR"];

const missing = Object.entries({
  wget,
  cdxIndexer,
  cdxjIndexer,
  wacz,
  warcio,
  wayback,
  java,
  outbackJar,
})
  .filter(([, path]) => path === undefined)
  .map(([name]) => name);
if (missing.length > 0) {
  process.stderr.write(`not installed, and so not compared with: ${missing.join(", ")}\n`);
}

/** The rows of a map of these inputs. */
async function rows(inputs: readonly string[], options: readonly string[] = []): Promise<string[]> {
  const result = await runCli(["generate", "-q", "--threads", "1", ...options, ...inputs]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return result.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

describe.skipIf(wget === undefined)("a crawl by Wget", () => {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-peers-"));
  let crawled: Crawl;
  let ofWarc: string[];

  beforeAll(async () => {
    crawled = await crawl(wget ?? "", folder);
    ofWarc = await rows([crawled.warcGz]);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("is read from its WARC files, compressed or not", async () => {
    expect(ofWarc.length).toBeGreaterThan(60);
    expect(await rows([crawled.warc])).toEqual(ofWarc);
  });

  it("is the same in Wget's own CDX, whose columns are odd", async () => {
    expect(readFileSync(crawled.cdx, "utf8")).toMatch(/^ CDX a b a m s k r M V g u\n/);
    expect(await rows([crawled.cdx])).toEqual(ofWarc);
    for (const filter of [
      ["--status", "200"],
      ["--mime", "text/html"],
      ["--preset", "paper"],
    ]) {
      expect(await rows([crawled.cdx], filter)).toEqual(await rows([crawled.warcGz], filter));
    }
  });

  it.skipIf(cdxIndexer === undefined).each([
    ["CDX-11", []],
    ["CDX-9", ["-9"]],
    ["CDX without SURTs", ["-u"]],
    ["CDXJ", ["-j"]],
  ])("is the same in %s of pywb's indexer", async (_name, options) => {
    const index = join(folder, "pywb.cdx");
    writeFileSync(
      index,
      await output(cdxIndexer ?? "", ["-s", ...options, crawled.warcGz], folder),
    );
    expect(await rows([index])).toEqual(ofWarc);
    const ok = ["--status", "200"];
    expect(await rows([index], ok)).toEqual(await rows([crawled.warcGz], ok));
  });

  it.skipIf(cdxjIndexer === undefined)("is the same in CDXJ of cdxj-indexer", async () => {
    const index = join(folder, "indexer.cdxj");
    writeFileSync(index, await output(cdxjIndexer ?? "", ["-s", crawled.warcGz], folder));
    expect(await rows([index])).toEqual(ofWarc);
  });

  it.skipIf(cdxjIndexer === undefined)(
    "is the same in a ZipNum cluster of cdxj-indexer",
    async () => {
      const place = mkdtempSync(join(folder, "cluster-"));
      const words = ["-s", "-l", "10", "-c", "data.cdxj.gz", "-o", "cluster.idx", crawled.warcGz];
      await output(cdxjIndexer ?? "", words, place);
      expect(await rows([place])).toEqual(ofWarc);
      expect(await rows([join(place, "cluster.idx")])).toEqual(ofWarc);
      expect(await rows([join(place, "data.cdxj.gz")])).toEqual(ofWarc);
    },
  );

  it.skipIf(warcio === undefined)("has the records that warcio finds", async () => {
    const fields = "warc-type,warc-target-uri,http:status";
    const text = await output(warcio ?? "", ["index", "-f", fields, crawled.warcGz], folder);
    const captures = text
      .split("\n")
      .filter((line) => /"warc-type": "(?:response|revisit|resource)"/.test(line))
      .filter((line) => /"warc-target-uri": "http/.test(line));
    const counted = ofWarc.reduce((sum, row) => sum + Number(row.split(" ")[1]), 0);
    expect(counted).toBe(captures.length);
    const json = await runCli(["generate", "--json", "--threads", "1", crawled.warcGz]);
    const { lines } = JSON.parse(json.stderr) as { lines: number };
    expect(lines).toBe(text.split("\n").length - 1);
  });

  it.skipIf(wacz === undefined)("is the same in a WACZ file", async () => {
    await output(wacz ?? "", ["create", "-o", "crawl.wacz", crawled.warcGz], folder);
    expect(await rows([join(folder, "crawl.wacz")])).toEqual(ofWarc);
  });

  describe.skipIf(wayback === undefined)("in pywb", () => {
    it("is harvested from its CDX server", async () => {
      const place = mkdtempSync(join(folder, "pywb-"));
      await output(wbManager ?? "", ["init", "coll"], place);
      await output(wbManager ?? "", ["add", "coll", crawled.warcGz], place);
      expect(await harvestAndCompare(place, "coll")).toBe(1);
    });

    it("is harvested page by page from a ZipNum index", async () => {
      const place = mkdtempSync(join(folder, "zipnum-"));
      const index = join(folder, "sorted.cdxj");
      writeFileSync(index, await output(cdxjIndexer ?? "", ["-s", crawled.warcGz], folder));
      const lines = readFileSync(index, "utf8")
        .split("\n")
        .filter((line) => line !== "");
      const { data, index: idx } = zipNum(lines, 10, "cluster.cdx.gz");
      await output(wbManager ?? "", ["init", "coll"], place);
      const indexes = join(place, "collections", "coll", "indexes");
      writeFileSync(join(indexes, "cluster.cdx.gz"), data);
      writeFileSync(join(indexes, "cluster.idx"), idx);
      writeFileSync(
        join(indexes, "cluster.loc"),
        `cluster.cdx.gz\t${join(indexes, "cluster.cdx.gz")}\n`,
      );
      writeFileSync(
        join(place, "config.yaml"),
        `collections:\n  paged:\n    index_paths: ${join(indexes, "cluster.idx")}\n    archive_paths: ${folder}\n`,
      );
      expect(await harvestAndCompare(place, "paged")).toBeGreaterThan(1);
    });

    async function harvestAndCompare(place: string, collection: string): Promise<number> {
      const port = await freePort();
      const api = `http://127.0.0.1:${port}/${collection}/cdx`;
      const server = await startServer(
        wayback ?? "",
        ["-p", String(port), "-b", "127.0.0.1"],
        place,
        `http://127.0.0.1:${port}/`,
      );
      try {
        await stopHalfWay(api, place);
        const { index, pages } = await harvested(api, place);
        expect(await rows([index])).toEqual(ofWarc);
        return pages;
      } finally {
        server.stop();
      }
    }
  });

  it.skipIf(outbackJar === undefined || java === undefined || cdxIndexer === undefined)(
    "is harvested from OutbackCDX",
    async () => {
      const place = mkdtempSync(join(folder, "outback-"));
      const port = await freePort();
      const address = `http://127.0.0.1:${port}/`;
      const args = ["-jar", outbackJar ?? "", "-d", place, "-p", String(port), "-b", "127.0.0.1"];
      const server = await startServer(java ?? "", args, place, address);
      try {
        const index = await output(cdxIndexer ?? "", ["-s", crawled.warcGz], folder);
        const posted = await fetch(`${address}coll`, { method: "POST", body: index });
        expect(posted.status).toBe(200);
        const { index: fetched } = await harvested(`${address}coll`, place);
        // OutbackCDX keeps one capture of a URI and second.
        expect(await rows([fetched])).toEqual(await rows([crawled.warcGz], ["--distinct"]));
      } finally {
        server.stop();
      }
    },
  );

  /** Begins the harvest that `harvested` ends, and stops when there is something to go on from. */
  async function stopHalfWay(api: string, place: string): Promise<void> {
    const index = join(place, "harvest.cdx");
    const interrupt = new Interrupt();
    const words = ["--url", crawled.site, "--match", "prefix", "--interval", "500ms", "-o", index];
    const timer = setInterval(() => {
      if (existsSync(`${index}.part.json`)) interrupt.trigger("SIGINT");
    }, 20);
    try {
      const { code } = await runCli(["harvest", api, ...words], { interrupt });
      // What comes in one stream may be all there before it can be stopped.
      if (code === 0) rmSync(index);
      else expect([code, existsSync(index)]).toEqual([130, false]);
    } finally {
      clearInterval(timer);
    }
  }

  /** An index of what a CDX server says about the site. */
  async function harvested(api: string, place: string): Promise<{ index: string; pages: number }> {
    const index = join(place, "harvest.cdx");
    const words = ["--url", crawled.site, "--match", "prefix", "--interval", "0", "-o", index];
    const { code, stderr } = await runCli(["harvest", "--json", api, ...words]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { pages } = JSON.parse(stderr) as { pages: number };
    return { index, pages };
  }
});
