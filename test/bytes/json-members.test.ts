import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonMembers, unescapeJson } from "../../src/bytes/json-members.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** All members as names and raw values, or undefined if the walk gave up. */
function membersOf(text: string): [string, string][] | undefined {
  const before = '{"before": 1} ';
  const bytes = encoder.encode(`${before}${text}\n"behind": 2}`);
  const json = new JsonMembers();
  const end = bytes.length - '\n"behind": 2}'.length;
  if (!json.open(bytes, before.length, end)) return undefined;
  const members: [string, string][] = [];
  for (;;) {
    const found = json.next();
    if (found === -1) return undefined;
    if (found === 0) return members;
    const name = unescapeJson(bytes, json.nameStart, json.nameEnd);
    expect(json.isNamed(bytes.slice(json.nameStart, json.nameEnd))).toBe(true);
    expect(json.isNamed(encoder.encode(`${name}-`))).toBe(false);
    members.push([name, decoder.decode(bytes.subarray(json.valueStart, json.valueEnd))]);
  }
}

/** A raw value as the value it stands for. */
function valueOf(raw: string, expected: unknown): unknown {
  return typeof expected === "string" ? JSON.parse(`"${raw}"`) : JSON.parse(raw);
}

describe("JsonMembers", () => {
  it("finds the members that JSON.parse finds", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.jsonValue()), { maxLength: 8 }),
        fc.constantFrom("", " ", "  \t"),
        (entries, blank) => {
          const inner = entries.map(
            ([name, value]) =>
              `${blank}${JSON.stringify(name)}${blank}:${blank}${JSON.stringify(value)}${blank}`,
          );
          const members = membersOf(`{${inner.join(",")}${blank}}`);
          expect(members?.map(([name, raw], i) => [name, valueOf(raw, entries[i]?.[1])])).toEqual(
            entries.map(([name, value]) => [name, JSON.parse(JSON.stringify(value))]),
          );
        },
      ),
    );
  });

  it("gives up on an object that is cut short anywhere, and reads nothing behind it", () => {
    const text = '{"a": "x\\"y", "b": {"c": [1, "}"]}, "d": 12, "e": null}';
    for (let end = 0; end < text.length; end++)
      expect(membersOf(text.slice(0, end))).toBe(undefined);
    expect(membersOf(text)).toHaveLength(4);
  });

  it.each(["", "x", "[1]", '"a"', "{a: 1}", '{"a" 1}', '{"a": 1', '{"a": "1}'])(
    "gives up on %j",
    (text) => {
      expect(membersOf(text)).toBe(undefined);
    },
  );
});

describe("unescapeJson", () => {
  it("keeps a byte order mark, which is part of the string", () => {
    const bytes = encoder.encode("\ufeffhttp:\\u002f/a.com");
    expect(unescapeJson(bytes, 0, bytes.length)).toBe("\ufeffhttp://a.com");
  });

  it("undoes JSON.stringify", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const bytes = encoder.encode(JSON.stringify(text));
        expect(unescapeJson(bytes, 1, bytes.length - 1)).toBe(text);
      }),
    );
  });

  it("leaves what is not JSON as it is", () => {
    const bytes = encoder.encode("a\\x");
    expect(unescapeJson(bytes, 0, bytes.length)).toBe("a\\x");
  });
});
