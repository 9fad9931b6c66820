import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Analysis } from "../../src/study/analyze/analysis.ts";
import type { ArcRecord } from "../support/arc-fixture.ts";
import { arcFile, arcGz } from "../support/arc-fixture.ts";
import { runCli } from "../support/run-cli.ts";
import { output, program } from "./programs.ts";

/*
 * ARC files, read by the programs that still read them, must give the map that we make of the files
 * themselves. warcio decodes a URI that is not UTF-8 as Latin-1 and splits types with blanks, so
 * there are none here. See inputs.test.ts for how to install them.
 */
const cdxIndexer = program("cdx-indexer");
const cdxjIndexer = program("cdxj-indexer");
const warcio = program("warcio");
const peers = process.env["MEMENTOMAP_PEERS"] ?? "";

/** What comes with pywb. */
const SAMPLES = ["example.arc", "example.arc.gz"]
  .map((name) => join(peers, "sample_archive", "warcs", name))
  .filter((path) => peers !== "" && existsSync(path));

const TYPES = ["text/html", "text/html; charset=utf-8", "image/gif", "Text/Plain", ""];
const STATUSES = ["200 OK", "200 OK", "302 Found", "404 Not Found", "500"];
const PATHS = ["", "a", "a/", "a b/c", "A/B?z=1&a=2", "%7Euser/", "x?sid=1234", "é", "robots.txt"];

/** Responses of a few sites over some years, with name look-ups in between. */
function crawl(): ArcRecord[] {
  return Array.from({ length: 400 }, (_, i): ArcRecord => {
    const date = `${1997 + (i % 12)}0${1 + (i % 9)}02030405`;
    const host = ["example.com", "www.example.org", "EXAMPLE.net:8080", "192.0.2.7"][i % 4];
    if (i % 40 === 0) return { uri: `dns:${host}`, date, type: "text/dns", body: "192.0.2.7\n" };
    const type = TYPES[i % TYPES.length];
    const field = type === "" ? "" : `\nContent-Type: ${type}`;
    return {
      // The fixture writes Latin-1: this makes UTF-8 of it.
      uri: Buffer.from(`http://${host}/${PATHS[i % PATHS.length]}`).toString("latin1"),
      date,
      type: type === "" ? "no-type" : type.replace(/;.*/, ""),
      http: `HTTP/1.${i % 2} ${STATUSES[i % STATUSES.length]}${field}`,
      body: Buffer.alloc(i * 7, `\n\nhttp://b.com/ 192.0.2.1 20060102030405 text/html 5\n`),
    };
  });
}

/** The rows of a map of this input. */
async function rows(input: string, options: readonly string[] = []): Promise<string[]> {
  const result = await runCli(["generate", "-q", "--threads", "1", ...options, input]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  const list = result.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
  expect(list).not.toEqual([]);
  return list;
}

describe("ARC files", () => {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-peers-"));
  const plain = join(folder, "crawl.arc");
  const compressed = join(folder, "crawl.arc.gz");
  let ofArc: string[];

  beforeAll(async () => {
    writeFileSync(plain, arcFile(crawl()));
    writeFileSync(compressed, arcGz(crawl()));
    ofArc = await rows(compressed);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("are read, compressed or not, by generate and analyze", async () => {
    expect(ofArc.length).toBeGreaterThan(20);
    expect(await rows(plain)).toEqual(ofArc);
    const { stdout } = await runCli(["analyze", "--json", "-q", plain]);
    const { index } = JSON.parse(stdout) as Analysis;
    expect(index).toMatchObject({ mementos: 390, keys: ofArc.length });
    expect(index.lines).toMatchObject({ lines: 401, nonWeb: 11 });
  });

  describe.skipIf(cdxjIndexer === undefined)("in CDXJ of cdxj-indexer", () => {
    it.each([
      ["all captures", []],
      ["a status", ["--status", "200"]],
      ["a type", ["--mime", "text/plain"]],
      ["a time", ["--from", "2003"]],
    ])("have the same keys and counts of %s", async (_name, options) => {
      for (const path of [plain, compressed]) {
        const index = join(folder, "indexer.cdxj");
        writeFileSync(index, await output(cdxjIndexer ?? "", [path], folder));
        expect(await rows(index, options)).toEqual(await rows(compressed, options));
      }
    });
  });

  it.skipIf(cdxIndexer === undefined).each([
    ["CDX-11", []],
    ["CDX-9", ["-9"]],
    ["CDXJ", ["-j"]],
  ])("have the same keys and counts in %s of pywb's indexer", async (_name, options) => {
    // Its CDX has the blanks of URIs as they are, and so a column more in those rows.
    const arc = join(folder, "no-blanks.arc.gz");
    writeFileSync(arc, arcGz(crawl().filter(({ uri }) => !uri.includes(" "))));
    const index = join(folder, "pywb.cdx");
    writeFileSync(index, await output(cdxIndexer ?? "", ["-s", ...options, arc], folder));
    for (const filter of [[], ["--status", "404"], ["--mime", "image/gif"]]) {
      expect(await rows(index, filter)).toEqual(await rows(arc, filter));
    }
  });

  it.skipIf(warcio === undefined)("are the same as WARC files that warcio makes", async () => {
    const warc = join(folder, "crawl.warc.gz");
    await output(warcio ?? "", ["recompress", compressed, warc], folder);
    expect(await rows(warc)).toEqual(ofArc);
  });

  it.skipIf(warcio === undefined)("have the records that warcio finds", async () => {
    const text = await output(warcio ?? "", ["index", "-f", "offset", plain], folder);
    const { stderr } = await runCli(["generate", "--json", "--threads", "1", plain]);
    const { lines } = JSON.parse(stderr) as { lines: number };
    expect(lines).toBe(text.split("\n").length - 1);
  });

  it.skipIf(cdxjIndexer === undefined || SAMPLES.length === 0)(
    "of a live archive give the map of their index",
    async () => {
      for (const path of SAMPLES) {
        const index = join(folder, "sample.cdxj");
        writeFileSync(index, await output(cdxjIndexer ?? "", [path], folder));
        expect(await rows(path, ["--by", "datetime:second"])).toEqual(
          await rows(index, ["--by", "datetime:second"]),
        );
      }
    },
  );
});
