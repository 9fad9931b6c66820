import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { checkSize, parseHeader, SizedHead, sizeLine, UkvsHeaders } from "../../src/ukvs/header.ts";
import { countLines } from "../../src/bytes/bytes.ts";

function outcome(run: () => void): string {
  try {
    run();
    return "fine";
  } catch (error) {
    return isMementoMapError(error) ? error.code : String(error);
  }
}

const count = fc.oneof(fc.nat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER));

describe("!size", () => {
  it("is a header as long for every size, and reads back", () => {
    fc.assert(
      fc.property(count, count, (bytes, records) => {
        const line = sizeLine({ bytes, records });
        expect(line).toHaveLength(sizeLine({ bytes: 0, records: 0 }).length);
        expect(new UkvsHeaders([parseHeader(line)]).size).toEqual({ bytes, records });
      }),
    );
  });

  it.each(["{}", "7", '{"bytes":-1,"records":1}', '{"bytes":1.5,"records":1}', '{"bytes":1}'])(
    "is refused as %s",
    (value) => {
      expect(() => new UkvsHeaders([parseHeader(`!size ${value}`)])).toThrow(
        expect.objectContaining({ code: "MM_BAD_HEADER" }),
      );
    },
  );

  it("stands among the other headers in byte order", () => {
    const list = ["!zone 1", '!meta {"a":1}', "!abc 2"].map(parseHeader);
    const head = new SizedHead(new UkvsHeaders(list));
    const text = new TextDecoder().decode(head.bytes({ bytes: 12, records: 3 }));
    const lines = text.split("\n").slice(0, -1);
    expect(lines).toEqual(lines.toSorted());
    expect(lines[2]?.trimEnd()).toBe('!size {"bytes":12,"records":3}');
    expect(head).toMatchObject({ length: text.length, lines: 4 });
  });

  it.each([
    [{ bytes: 9 }, "MM_CUT"],
    [{ bytes: 10 }, "fine"],
    [{ bytes: 12 }, "fine"],
    [{ bytes: 10, records: 2 }, "fine"],
    [{ bytes: 12, records: 2 }, "fine"],
    [{ bytes: 10, records: 1 }, "MM_CUT"],
    [{ bytes: 10, records: 3 }, "MM_CUT"],
    [{ records: 2 }, "fine"],
  ])("of 10 bytes and 2 records, finding %j: %s", (found, expected) => {
    expect(outcome(() => checkSize({ bytes: 10, records: 2 }, found, "map.ukvs"))).toBe(expected);
  });
});

it("countLines counts line feeds, wherever the bytes are in memory", () => {
  const bytes = fc.uint8Array({ maxLength: 40 }).map((list) => list.map((b) => (b < 90 ? 10 : b)));
  fc.assert(
    fc.property(bytes, fc.nat(7), (list, offset) => {
      const moved = new Uint8Array(list.length + 8);
      moved.set(list, offset);
      const view = moved.subarray(offset, offset + list.length);
      expect(countLines(view)).toBe(list.filter((byte) => byte === 10).length);
    }),
  );
});
