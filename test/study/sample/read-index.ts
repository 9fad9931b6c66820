import { sampleIndex, type SampleOptions } from "../../../src/study/sample/sample-archive.ts";

/** A whole sample index, for samples of a size that tests can hold. */
export function readIndex(options: SampleOptions): Buffer {
  return Buffer.concat(Array.from(sampleIndex(options)));
}

/** The lines of an index of ASCII text, without their ends. */
export function indexLines(index: Buffer): string[] {
  return index.toString("latin1").split("\n").slice(0, -1);
}

/** The key column of a line, without its query. */
export function lineKey(line: string): string {
  return line.slice(0, line.indexOf(" ")).replace(/\?.*$/, "");
}
