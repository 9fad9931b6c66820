import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { surtKey, uriKey } from "../../src/surt/key.ts";
import { naiveCounts } from "./key-arbitraries.ts";
import { rowsOf } from "./naive-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { sharedData } from "../support/shared-data.ts";

/**
 * Real index files of many tools: lines, captures, rows of the map, records that are not of the
 * web, and header lines. Where rows are not keyed by SURT, their URI gives the key.
 */
const INDEXES = {
  "cdx_toolkit-filtered_CC-MAIN-2024-30_cdx-00187.cdxj.gz": [1140, 1140, 34, 0, 0],
  "ipwb-sample-1.cdxj": [67, 65, 65, 0, 2],
  "netarchivesuite-NAS-20100909163324.cdx": [41, 39, 38, 2, 0],
  "netarchivesuite-Reader2.cdx": [145, 145, 125, 0, 0],
  "netarchivesuite-fyensdk.cdx": [189, 189, 2, 0, 0],
  "netarchivesuite-jobs-2-4-70.cdx": [252, 231, 77, 21, 0],
  "oduwsdl-archive_profiler-index-1.cdx": [68, 63, 63, 4, 1],
  "oduwsdl-archive_profiler-index-2.cdx": [666, 650, 254, 15, 1],
  "openwayback-partition-test-cdx.cdx": [2144, 2144, 1, 0, 0],
  "openwayback-records-cdx11-pywb-sorted.cdx": [74, 74, 65, 0, 0],
  "openwayback-records-cdx11-pywb-unsurt-sorted.cdx": [78, 74, 65, 3, 1],
  "openwayback-records-cdx9-jwat-sorted.cdx": [75, 74, 65, 0, 1],
  "openwayback-records-cdx9-pywb-sorted.cdx": [78, 74, 65, 3, 1],
  "openwayback-sopa-wikipedia-homepage.cdx": [78, 74, 65, 3, 1],
  "pywb-dupes.cdxj": [12, 12, 10, 0, 0],
  "pywb-example.cdxj": [3, 3, 2, 0, 0],
  "pywb-iana.cdx": [172, 171, 31, 0, 1],
  "pywb-iana.cdxj": [171, 171, 31, 0, 0],
  "pywb-post-test.cdxj": [3, 3, 1, 0, 0],
  "pywb-url-agnost-example.cdxj": [2, 2, 2, 0, 0],
  "pywb-zipnum-sample.cdx.gz": [151, 151, 32, 0, 0],
  "sandcrawler-example.cdx": [20, 19, 19, 1, 0],
  "webarchive-commons-cdxfile1.cdx": [1667, 1571, 1152, 95, 1],
  "webarchive-commons-cdxfile2.cdx": [1889, 1782, 1721, 106, 1],
  "webarchive-commons-cdxfile3.cdx": [203, 202, 146, 0, 1],
  "webarchive-commons-cdxfile4.cdx": [57, 56, 56, 0, 1],
  "webarchive-commons-cdxfile5.cdx": [147, 146, 146, 0, 1],
} as const;

const folder = sharedData("cdx-real");
const NON_WEB = /^(?:dns|filedesc|metadata|warcinfo|whois):/;

/** The key of a line, from its words alone; undefined for what is not a capture of a page. */
function naiveKey(line: string): string | undefined {
  if (/^[!@ ]/.test(line)) return undefined;
  const words = line.trimEnd().split(" ");
  const [first = "", , third = ""] = words;
  const uri = /^https?:/.test(first) ? first : third;
  if (NON_WEB.test(first) || NON_WEB.test(uri) || (first === "-" && uri === "-")) return undefined;
  return first.includes(")") && !/^https?:/.test(first) ? surtKey(first) : uriKey(uri);
}

describe.skipIf(folder === undefined)(
  "real index files (skipped where they are not at hand)",
  () => {
    it.each(Object.entries(INDEXES))(
      "%s",
      async (name, [lines, captures, rows, nonWeb, headers]) => {
        const path = join(folder ?? "", name);
        const result = await runCli(["generate", "--json", path]);
        expect(result.code).toBe(0);
        expect(JSON.parse(result.stderr)).toMatchObject({
          lines,
          captures,
          rows,
          nonWeb,
          headers,
          bad: 0,
          blank: 0,
        });
        const bytes = readFileSync(path);
        const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("latin1");
        const keys = text
          .split("\n")
          .flatMap((line) => (line === "" ? [] : (naiveKey(line) ?? [])));
        const expected = naiveCounts(keys.map((key) => [key, 1])).map((entry) => entry.join(" "));
        expect(rowsOf(Buffer.from(result.stdout))).toEqual(expected);
      },
    );

    it("all of them together: the sum, and no fault in the map", async () => {
      const paths = Object.keys(INDEXES).map((name) => join(folder ?? "", name));
      const map = join(scratchDir(), "map.ukvs");
      const { code, stderr } = await runCli(["generate", "--json", "-o", map, ...paths]);
      expect(code).toBe(0);
      const captures = Object.values(INDEXES).reduce((sum, counts) => sum + counts[1], 0);
      expect(JSON.parse(stderr)).toMatchObject({ captures });
      const rows = rowsOf(readFileSync(map));
      const mementos = rows.reduce((sum, row) => sum + Number(row.split(" ")[1]), 0);
      expect(mementos).toBe(captures);
      expect(await runCli(["validate", map])).toMatchObject({ code: 0 });
    });
  },
);
