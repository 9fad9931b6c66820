import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { compareBytes } from "../../../src/bytes/bytes.ts";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { indexLines, readIndex } from "./read-index.ts";

const LINE =
  /^(\S+) (\d{14}) \{"url": "(https?:\/\/[^" ]+)", "mime": "([\w/+-]+)", (?:"status": "([1-5]\d\d)", )?"digest": "[A-Z2-7]{32}", "length": "\d+", "offset": "\d+", "filename": "[\w.-]+\.warc\.gz"\}$/;

const sample = fc.record({ lines: fc.integer({ min: 1, max: 3000 }), seed: fc.maxSafeInteger() });

describe("sampleIndex", () => {
  it("has the lines asked for, in strict byte order", () => {
    fc.assert(
      fc.property(sample, (options) => {
        const lines = indexLines(readIndex(options)).map((line) => Buffer.from(line, "latin1"));
        expect(lines).toHaveLength(options.lines);
        for (let i = 1; i < lines.length; i++) {
          expect(compareBytes(lines[i - 1], lines[i])).toBeLessThan(0);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("writes lines as pywb does, with URLs that make their keys", () => {
    fc.assert(
      fc.property(sample, (options) => {
        for (const line of indexLines(readIndex(options))) {
          const [, key, , url, mime, status] = LINE.exec(line) ?? [line];
          expect(surt(url)).toBe(key);
          expect(status === undefined).toBe(mime === "warc/revisit");
        }
      }),
      { numRuns: 10 },
    );
  });

  it("gives the same bytes for the same seed, and others for another", () => {
    const index = readIndex({ lines: 5000, seed: 7 });
    expect(readIndex({ lines: 5000, seed: 7 }).equals(index)).toBe(true);
    expect(readIndex({ lines: 5000, seed: 8 }).equals(index)).toBe(false);
    expect(readIndex({ lines: 5000, seed: 7 + 2 ** 32 }).equals(index)).toBe(false);
  });

  it("yields whole lines in chunks of bounded size", () => {
    let chunks = 0;
    for (const chunk of sampleIndex({ lines: 20_000 })) {
      chunks++;
      expect(chunk.at(-1)).toBe(0x0a);
      expect(chunk.length).toBeLessThanOrEqual(1 << 18);
    }
    expect(chunks).toBeGreaterThan(10);
  });
});
