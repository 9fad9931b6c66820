import { MemorySource } from "../../src/bytes/byte-source.ts";
import { evaluateConditions, evaluateRange, type Representation } from "../../src/http/reply.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const FOUND: Representation = {
  body: new MemorySource(new Uint8Array(1000), "map"),
  etag: '"4f2a-gzip"',
  lastModified: new Date("2016-11-15T00:00:00Z"),
  contentType: "text/plain",
  encoding: "gzip",
};

export const target: TargetDefinition = {
  holds: "a part that is asked for lies within the whole, and is not empty",
  seeds: () => [
    "bytes=0-99",
    'bytes=-5\n"4f2a-gzip"',
    "bytes=990-\nTue, 15 Nov 2016 00:00:00 GMT",
    "bytes=1-2,5-6",
    'bytes=0-\nW/"4f2a"\n"a", W/"4f2a-gzip", *',
    "lines=1-2\n\n*\n*",
  ],
  words: ["bytes=", "-", ",", '"4f2a-gzip"', "W/", "*", "\n", "GMT"],
  run(input) {
    const [range, ifRange, ifMatch, since] = latin1(input).split("\n");
    const conditions = evaluateConditions(
      { "if-match": ifMatch, "if-none-match": ifRange, "if-modified-since": since },
      FOUND,
    );
    must(
      conditions === "send" ||
        conditions === "not-modified" ||
        conditions === "precondition-failed",
      "an outcome",
      conditions,
    );
    const headers = ifRange === undefined ? { range } : { range, "if-range": ifRange };
    const part = evaluateRange(headers, FOUND);
    if (typeof part === "string") return;
    const { start, end } = part;
    must(Number.isInteger(start) && Number.isInteger(end), "whole numbers", part);
    must(start >= 0 && start < end && end <= FOUND.body.size, "a part of the whole", part);
  },
};
