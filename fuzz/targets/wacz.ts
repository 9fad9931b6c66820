import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { FileProgress } from "../../src/input/index-input.ts";
import { openWacz } from "../../src/input/wacz.ts";
import { zipFile } from "../../test/support/zip-fixture.ts";
import { zipNum } from "../../test/support/zipnum-fixture.ts";
import { must } from "../check.ts";
import { scratchFile } from "../scratch-file.ts";
import type { TargetDefinition } from "../target.ts";

const LINES = ['com,a)/ 2014 {"url": "http://a.com/"}', 'com,b)/ 2015 {"url": "http://b.com/"}'];

export const target: TargetDefinition = {
  holds: "parts lie within the file",
  seeds: () => {
    const { data, waczIndex } = zipNum(LINES, 1, "index.cdx.gz");
    const index = Buffer.from(`${LINES.join("\n")}\n`);
    return [
      zipFile([
        { name: "indexes/index.idx", data: Buffer.from(waczIndex) },
        { name: "indexes/index.cdx.gz", data },
      ]),
      zipFile([{ name: "indexes/index.cdxj", data: index, isDeflated: true }]),
      zipFile([{ name: "indexes/index.cdx.gz", data: gzipSync(index) }]),
      zipFile([{ name: "datapackage.json", data: Buffer.from("{}") }]),
    ];
  },
  words: [
    "PK\u0001\u0002",
    "PK\u0003\u0004",
    "PK\u0005\u0006",
    "PK\u0006\u0006",
    "indexes/",
    "archive/a.warc.gz",
    ".idx",
  ],
  async run(input) {
    const path = scratchFile("input.wacz");
    writeFileSync(path, input);
    const inputs = await openWacz(path, {
      format: "wacz",
      maxLineBytes: 1 << 20,
      streams: { stdin: process.stdin },
      progress: new FileProgress(),
    });
    for (const { size } of inputs) {
      must(size === undefined || (size >= 0 && size <= input.length), "its size", size);
    }
  },
};
