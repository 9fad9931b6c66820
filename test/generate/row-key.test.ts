import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ORIGINAL_MARK, RowKey, type RowKeyOptions } from "../../src/generate/map-rows.ts";
import { Capture } from "../../src/input/capture.ts";
import { surtKey } from "../../src/surt/key.ts";
import { lookupSurt } from "../lookup/map-arbitraries.ts";
import { bytesOf, textOf } from "./key-arbitraries.ts";

const MARK = String.fromCharCode(ORIGINAL_MARK);

function keyOf(surt: string, date: string, options: RowKeyOptions, rowKey = new RowKey(options)) {
  const row = bytesOf(`${date} ${surt}`);
  const capture = new Capture();
  capture.dateStart = 0;
  capture.dateEnd = date.length;
  rowKey.set(row, date.length + 1, row.length, row, capture);
  return textOf(rowKey.bytes, rowKey.start, rowKey.end);
}

const PLAIN = { originals: false, datetimeDigits: 0 };

describe("RowKey", () => {
  it("is the key of the SURT", () => {
    fc.assert(
      fc.property(lookupSurt, (surt) => {
        expect(keyOf(surt, "2014", PLAIN)).toBe(surtKey(surt));
      }),
    );
  });

  it("is the same when one object is used for many SURTs", () => {
    fc.assert(
      fc.property(fc.array(lookupSurt), (surts) => {
        const rowKey = new RowKey(PLAIN);
        for (const surt of surts) expect(keyOf(surt, "2014", PLAIN, rowKey)).toBe(surtKey(surt));
      }),
    );
  });

  it.each([
    [4, "20140126200624", "com,a)/ 2014"],
    [6, "20140126200624", "com,a)/ 201401"],
    [8, "20140126200624", "com,a)/ 20140126"],
    [14, "20140126200624", "com,a)/ 20140126200624"],
    [14, "20140126200624123", "com,a)/ 20140126200624"],
    [14, "201401", "com,a)/ 201401"],
    [4, "2014", "com,a)/ 2014"],
  ])("takes %i digits of %s", (datetimeDigits, date, expected) => {
    expect(keyOf("com,a)/", date, { originals: false, datetimeDigits })).toBe(expected);
    expect(keyOf("com,a)/?x=1", date, { originals: true, datetimeDigits })).toBe(
      `${expected}${MARK}x=1`,
    );
  });

  it("keeps queries apart, behind a mark that sorts before every byte of a key", () => {
    const options = { originals: true, datetimeDigits: 0 };
    expect(keyOf("com,a)/b", "2014", options)).toBe("com,a)/b");
    expect(keyOf("com,a)/b/?x=1?y", "2014", options)).toBe(`com,a)/b${MARK}x=1?y`);
    expect(keyOf("com,a)?x", "2014", options)).toBe(`com,a)/${MARK}x`);
  });
});
