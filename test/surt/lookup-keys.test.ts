import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { surtKey } from "../../src/surt/key.ts";
import { lookupKeys } from "../../src/surt/covering-keys.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { anyUri } from "./uri-arbitraries.ts";
import { cases } from "../support/cases.ts";

function listed(given: string): string[] {
  return lookupKeys(given).map(({ key, distance }) => `${distance} ${key}`);
}

describe("lookupKeys", () => {
  it.each([
    [
      "com,example,www2)/a/b",
      [
        "0 com,example,www2)/a/b",
        "1 com,example,www2)/a/b/*",
        "2 com,example,www2)/a/*",
        "3 com,example,www2)/*",
        "4 com,example,www2,*)/a/b",
        "5 com,example,www2,*",
        "6 com,example,*)/a/b",
        "7 com,example,*",
        "8 com,*)/a/b",
        "8 com,*",
      ],
    ],
    ["com,x)/", ["0 com,x)/", "1 com,x)/*", "2 com,x,*)/", "3 com,x,*", "4 com,*)/", "4 com,*"]],
    ["com,x)", ["0 com,x)/", "1 com,x)/*", "2 com,x,*)/", "3 com,x,*", "4 com,*)/", "4 com,*"]],
    [
      "com,x)//a",
      [
        "0 com,x)//a",
        "1 com,x)//a/*",
        "2 com,x)//*",
        "3 com,x)/*",
        "4 com,x,*)//a",
        "5 com,x,*",
        "6 com,*)//a",
        "6 com,*",
      ],
    ],
    [
      "com,x)/a?b=1",
      [
        "0 com,x)/a?b=1",
        "0 com,x)/a",
        "1 com,x)/a/*",
        "2 com,x)/*",
        "3 com,x,*)/a",
        "4 com,x,*",
        "5 com,*)/a",
        "5 com,*",
      ],
    ],
    [
      "localhost)/a",
      ["0 localhost)/a", "1 localhost)/a/*", "2 localhost)/*", "3 localhost,*)/a", "3 localhost,*"],
    ],
    [
      "com,x:8080)/",
      [
        "0 com,x:8080)/",
        "1 com,x:8080)/*",
        "2 com,x:8080,*)/",
        "3 com,x:8080,*",
        "4 com,*)/",
        "4 com,*",
      ],
    ],
    ["::1)/", ["0 ::1)/", "1 ::1)/*", "2 ::1,*)/", "2 ::1,*"]],
    ["dns:example.com", ["0 dns:example.com"]],
    ["mailto:a@b.com?subject=c", ["0 mailto:a@b.com?subject=c", "0 mailto:a@b.com"]],
    ["a\nb)/", ["0 a%0ab)/", "1 a%0ab)/*", "2 a%0ab,*)/", "2 a%0ab,*"]],
  ])("of %j, most specific first", (given, expected) => {
    expect(listed(given)).toEqual(expected);
  });

  it("takes IPv4 addresses as names", () => {
    const keys = listed("1,0,0,127)/x");
    expect(keys.slice(0, 5)).toEqual([
      "0 1,0,0,127)/x",
      "1 1,0,0,127)/x/*",
      "2 1,0,0,127)/*",
      "3 1,0,0,127,*)/x",
      "4 1,0,0,127,*",
    ]);
    expect(keys.at(-1)).toBe("9 1,*");
  });

  it("names every key once, in order of distance, the exact key among the nearest, and never *", () => {
    fc.assert(
      fc.property(anyUri, (uri) => {
        const keys = lookupKeys(surt(uri));
        expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
        expect(keys.map(({ key }) => key)).not.toContain("*");
        expect(keys).toContainEqual({ key: surtKey(surt(uri)), distance: 0 });
        for (let i = 1; i < keys.length; i++) {
          const step = (keys[i]?.distance ?? 0) - (keys[i - 1]?.distance ?? 0);
          expect([0, 1]).toContain(step);
        }
      }),
      { numRuns: cases(3000) },
    );
  });

  it("names every ancestor of a path, however many slashes there are", () => {
    const segments = fc.array(fc.constantFrom("", "a", "b"), { maxLength: 6 });
    fc.assert(
      fc.property(segments, (path) => {
        const keys = lookupKeys(`com,x)/${[...path, "end"].join("/")}`).map(({ key }) => key);
        for (let depth = 0; depth <= path.length; depth++) {
          expect(keys).toContain(
            `com,x)/${path
              .slice(0, depth)
              .map((part) => `${part}/`)
              .join("")}*`,
          );
        }
      }),
    );
  });
});
