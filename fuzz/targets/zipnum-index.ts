import { looksLikeZipNumIndex } from "../../src/input/line-kind.ts";
import { parseLocations, readIndexLine } from "../../src/input/zipnum.ts";
import { must, utf8 } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "offsets and lengths are whole numbers that can be added up",
  seeds: () => [
    "com,a)/ 20140101000000\tcdx-00000.gz\t0\t188\t1\ncom,b)/ 2015\tcdx-00000.gz\t188\t200\t2\n",
    '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\ncom,a)/ 20140101000000 {"offset": 0, "length": 188, "digest": "x"}\n',
    "cdx-00000.gz\t/data/cdx-00000.gz\thttp://x.org/cdx-00000.gz\n",
  ],
  words: ["\t", '{"offset": ', '"length": ', '"filename": "', "!meta 0 {", "com,a)/ 2014"],
  run(input) {
    const text = utf8(input);
    for (const [part, paths] of parseLocations(text)) must(paths.length > 0, "a path", part);
    const lines = text.split("\n");
    looksLikeZipNumIndex(lines[0]);
    for (const line of lines) {
      const block = readIndexLine(line, { source: "index.idx" });
      if (block === undefined || typeof block === "string") continue;
      const { offset, length } = block;
      must(offset >= 0 && length >= 0 && Number.isSafeInteger(offset + length), "a block", block);
    }
  },
};
