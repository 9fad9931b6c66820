import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffMaps, type RecordDifference } from "../../src/maps/diff-maps.ts";
import {
  DATETIME_FIELDS,
  datetimeRows,
  type Row,
  rows,
  rowText,
} from "../lookup/map-arbitraries.ts";
import { collected, encode, mapText } from "./map-files.ts";

async function diff(
  a: string,
  b: string,
): Promise<{ headers: string[]; records: RecordDifference[] }> {
  const found = await diffMaps(
    { name: "a", chunks: [encode(a)] },
    // One byte at a time: batches must not matter.
    { name: "b", chunks: Array.from(encode(b), (byte) => Uint8Array.of(byte)) },
  );
  const records = await collected(found.records);
  return { headers: found.headers.map(({ kind, header }) => `${kind} ${header}`), records };
}

function keyOf(row: Row): string {
  return row.datetime === undefined ? row.key : `${row.key} ${row.datetime}`;
}

/** Undoes or does what a difference says. */
function apply(before: readonly Row[], differences: readonly RecordDifference[]): string[] {
  const lines = new Map(before.map((row) => [keyOf(row), rowText(row)]));
  for (const { kind, key, before: old, after } of differences) {
    expect(lines.get(key)).toBe(kind === "added" ? undefined : `${key} ${old}`);
    if (kind === "removed") lines.delete(key);
    else lines.set(key, `${key} ${after}`);
  }
  return [...lines.values()].sort((a, b) => (a < b ? -1 : 1));
}

describe("diffMaps", () => {
  it("tells exactly what turns one map into the other", async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, async (a, b) => {
        const { records } = await diff(mapText(a), mapText(b));
        expect(apply(a, records)).toEqual(apply(b, []));
      }),
    );
  });

  it("takes all key columns into account", async () => {
    await fc.assert(
      fc.asyncProperty(datetimeRows, datetimeRows, async (a, b) => {
        const { records } = await diff(
          mapText(a, [DATETIME_FIELDS]),
          mapText(b, [DATETIME_FIELDS]),
        );
        expect(apply(a, records)).toEqual(apply(b, []));
      }),
    );
  });

  it("finds nothing between a map and itself, however it is laid out", async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (content) => {
        const text = mapText(content, ["!meta {a: 1}", '!id {"uri":"x"}']);
        const other = mapText(content, ['!id {uri: "x"}', '!meta {"a": 1}']).replaceAll(
          " 5\n",
          "\t  5\r\n",
        );
        expect(await diff(text, other)).toEqual({ headers: [], records: [] });
      }),
    );
  });

  it("reads differences in order, headers first", async () => {
    const a = '!meta {"a":1}\ncom,a)/ 1\ncom,b)/ 2\ncom,c)/ 3\n';
    const b = '!meta {"a":2}\ncom,b)/ 2 {"x": "a  b"}\ncom,c)/ 3\ncom,d)/ 4\n';
    expect(await diff(a, b)).toEqual({
      headers: ['removed !meta {"a":1}', 'added !meta {"a":2}'],
      records: [
        { kind: "removed", key: "com,a)/", before: "1" },
        { kind: "changed", key: "com,b)/", before: "2", after: '2 {"x": "a  b"}' },
        { kind: "added", key: "com,d)/", after: "4" },
      ],
    });
  });

  it("refuses maps with other keys, and unsorted ones", async () => {
    await expect(diff("", DATETIME_FIELDS)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      position: { source: "b" },
    });
    await expect(diff("com,b)/ 1\ncom,a)/ 1\n", "")).rejects.toMatchObject({
      code: "MM_NOT_SORTED",
    });
  });
});

it("diff shows hostile values in linear time", async () => {
  const rest = `{"a": "${String.raw`\"`.repeat(200_000)}`;
  const { records } = await diff(`com,a)/ 1 ${rest}\n`, "com,a)/ 1\n");
  expect(records.map(({ key, kind }) => `${kind} ${key}`)).toEqual(["changed com,a)/"]);
});
