import { describe, expect, it } from "vitest";
import type { DetectedFormat } from "../../../src/input/detect.ts";
import { lanesWorthwhile } from "../../../src/map/generate/read-indexes.ts";
import type { IndexInput } from "../../../src/input/index-input.ts";

const MEBIBYTE = 2 ** 20;

function input(format: DetectedFormat, isCompressed: boolean, size?: number): IndexInput {
  return {
    source: "x",
    format,
    size,
    isInflated: isCompressed,
    isSequential: isCompressed,
    async *parts() {
      // Nobody reads it.
    },
  };
}

describe("lanes that inputs are worth", () => {
  const cdxj: DetectedFormat = { name: "cdxj" };
  const large = 100 * MEBIBYTE;

  it.each<[string, IndexInput[], threads: number, lanes: number]>([
    ["a small file", [input(cdxj, false, 100)], 4, 1],
    ["an empty file", [input(cdxj, false, 0)], 4, 1],
    ["a file for two", [input(cdxj, false, 10 * MEBIBYTE)], 4, 2],
    ["a large file", [input(cdxj, false, large)], 4, 4],
    ["a pipe", [input(cdxj, false)], 4, 4],
    ["one compressed file, which a thread decompresses", [input(cdxj, true, large)], 4, 3],
    ["one compressed file on two threads", [input(cdxj, true, large)], 2, 1],
    ["one compressed file on one thread", [input(cdxj, true, large)], 1, 1],
    ["a compressed file whose keys must be made", [input({ name: "urls" }, true, large)], 4, 4],
    [
      "a compressed file whose keys are made from URIs",
      [input({ name: "cdxj", keyedByUri: true }, true, large)],
      4,
      4,
    ],
    ["a container", [input({ name: "captures", container: "warc" }, true, large)], 4, 1],
    ["two compressed files", [input(cdxj, true, large), input(cdxj, true, large)], 2, 2],
  ])("%s", (_, inputs, threads, lanes) => {
    expect(lanesWorthwhile(inputs, threads)).toBe(lanes);
  });
});
