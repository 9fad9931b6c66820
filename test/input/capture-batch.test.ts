import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Capture, ROW } from "../../src/input/capture.ts";
import {
  type CaptureBatch,
  CaptureBatches,
  type CaptureText,
  readCapture,
} from "../../src/input/capture-batch.ts";
import { rowTexts } from "../support/batch-text.ts";

const COLUMNS = ["key", "date", "uri", "mime", "status"] as const;
type Column = (typeof COLUMNS)[number];

function* batchesOf(texts: readonly CaptureText[]): Generator<CaptureBatch, void, undefined> {
  const captures = new CaptureBatches();
  for (const text of texts) {
    captures.add(text);
    if (captures.isFull) yield captures.take();
  }
  if (!captures.isEmpty) yield captures.take();
}

/** What a capture has in a column; undefined if it has none. */
function columnOf({ bytes }: CaptureBatch, capture: Capture, column: Column): string | undefined {
  const start = capture[`${column}Start`];
  if (start === -1) return undefined;
  return Buffer.from(bytes.subarray(start, capture[`${column}End`])).toString();
}

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("a\tb", "a\r\nb", "ü", "x".repeat(70_000)),
);
const uri = text.map((end) => `http://a.com/${end}`);
const captureText = fc.record({
  key: fc.option(
    text.map((end) => `com,a)/${end.replaceAll("?", "")}`),
    { nil: undefined },
  ),
  date: fc.constantFrom("2014", "20140126200624", undefined),
  uri,
  mime: fc.option(text, { nil: undefined }),
  status: fc.constantFrom("200", "", undefined),
});

describe("batches of captures", () => {
  it("hold what was added, whatever it is", () => {
    fc.assert(
      fc.property(fc.array(captureText, { maxLength: 20 }), (texts) => {
        const capture = new Capture();
        let at = 0;
        for (const batch of batchesOf(texts)) {
          for (let i = 0; i < batch.length; i++) {
            expect(readCapture(batch, i, capture, false)).toBe(ROW.capture);
            for (const column of COLUMNS) {
              const given = texts[at][column];
              const shown = given?.replaceAll(/[\t\n\r]/g, encodeURIComponent);
              expect(columnOf(batch, capture, column)).toBe(shown === "" ? "-" : shown);
            }
            at++;
          }
        }
        expect(at).toBe(texts.length);
      }),
    );
  });

  it("are keyed by URIs if that is asked for, and by keys where there is no URI", () => {
    const captures = new CaptureBatches();
    captures.add({ key: "com,a)/", uri: "http://b.com/" });
    captures.add({ key: "com,a)/", uri: "" });
    captures.add({ key: "a.com/", uri: "" });
    const batch = captures.take();
    const capture = new Capture();
    const keys = [0, 1, 2].map((i) => {
      readCapture(batch, i, capture, true);
      return [columnOf(batch, capture, "key"), columnOf(batch, capture, "uri")];
    });
    expect(keys).toEqual([
      [undefined, "http://b.com/"],
      ["com,a)/", "-"],
      [undefined, "a.com/"],
    ]);
  });

  it("have rows of other kinds, and counts", async () => {
    const captures = new CaptureBatches();
    captures.add({ uri: "http://a.com/" });
    captures.addCounted("http://b.com/", 2 ** 40);
    captures.addOther(ROW.blank);
    captures.addOther(ROW.bad, "{\t");
    captures.addOther(ROW.unproven);
    captures.add({ date: "soon", uri: "http://a.com/" });
    captures.add({ uri: "dns:a.com" });
    const batch = captures.take();
    const capture = new Capture();
    const rows = Array.from({ length: batch.length }, (_, i) => {
      const kind = readCapture(batch, i, capture, false);
      return [kind, capture.count, capture.fault];
    });
    expect(rows).toEqual([
      [ROW.capture, 1, ""],
      [ROW.capture, 2 ** 40, ""],
      [ROW.blank, 1, ""],
      [ROW.bad, 1, "expected a capture, with a URI or its key and a datetime"],
      [ROW.unproven, 1, ""],
      [ROW.bad, 1, "expected a datetime of 4 to 17 digits"],
      [ROW.nonWeb, 1, ""],
    ]);
    const texts = await rowTexts(
      (async function* given() {
        yield batch;
      })(),
    );
    expect(texts.slice(1, 4)).toEqual(["http://b.com/\t1099511627776", "", "{%09"]);
  });
});
