import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { surtKey, surtKeyBytes, uriKey } from "../../src/surt/key.ts";
import { keyEndInSurt } from "../../src/surt/plain-key.ts";
import { plainKeyBytes, surt, writePlainUri } from "../../src/surt/uri-to-surt.ts";
import { anyUri } from "./uri-arbitraries.ts";
import { cases } from "../support/cases.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** SURTs as ours, and as any other tool might have written them. */
const anySurt = fc.oneof(anyUri.map(surt), fc.stringMatching(/^[ab,.:)/?*!@"{ \n\u007fé-]*$/));

describe("surtKey", () => {
  it.each([
    ["com,cnn)/a/b?x=1&y", "com,cnn)/a/b"],
    ["com,cnn)", "com,cnn)/"],
    ["com,cnn)/", "com,cnn)/"],
    ["com,cnn)//", "com,cnn)/"],
    ["com,cnn)?q", "com,cnn)/"],
    ["com,cnn)/?q", "com,cnn)/"],
    ["com,cnn)/a//?q=/", "com,cnn)/a"],
    ["org,wiki)/orange_(fruit)", "org,wiki)/orange_(fruit)"],
    ["org,wiki)/orange_(fruit)/", "org,wiki)/orange_(fruit)"],
    ["org,wiki)/orange_(fruit)/juice", "org,wiki)/orange_(fruit)/juice"],
    ["dns:example.com", "dns:example.com"],
    ["mailto:a@b.com?subject=c)/d", "mailto:a@b.com"],
    ["com,a?b)/c?d", "com,a?b)/c"],
    ["com,a b)/c\td\n", "com,a%20b)/c%09d%0a"],
    ["com,a)/b/*", "com,a)/b/%2a"],
    ["com,a)/*/b*", "com,a)/%2a/b%2a"],
    ["com,*,*)/", "com,%2a,%2a)/"],
    ["*", "%2a"],
    ["!x)/", "%21x)/"],
    ["", ""],
  ])("of %j is %j", (given, expected) => {
    expect(surtKey(given)).toBe(expected);
  });

  it("holds no blank, control character, bare asterisk or start of a header", () => {
    fc.assert(
      fc.property(anySurt, (given) => {
        const key = surtKey(given);
        // oxlint-disable-next-line no-control-regex -- they must not occur
        expect(key).not.toMatch(/[\u0000-\u0020\u007f]/);
        expect(key).not.toMatch(/(^|[,/])\*($|[,/)])/);
        expect(key).not.toMatch(/^[!@"{]/);
      }),
      { numRuns: cases(3000) },
    );
  });

  it("is the key of itself", () => {
    fc.assert(
      fc.property(anySurt, (given) => {
        expect(surtKey(surtKey(given))).toBe(surtKey(given));
      }),
      { numRuns: cases(3000) },
    );
  });
});

describe("uriKey", () => {
  it("is the same with and without query, fragment, www and trailing slash", () => {
    for (const uri of ["http://a.com/b", "https://www.a.com/b/", "http://a.com:80/b?c#d"]) {
      expect(uriKey(uri)).toBe("com,a)/b");
    }
  });
});

describe("surtKeyBytes", () => {
  it("equals surtKey, and so does the part that keyEndInSurt finds", () => {
    fc.assert(
      fc.property(anySurt, (given) => {
        const bytes = encoder.encode(given);
        const target = new Uint8Array(bytes.length * 3 + 1);
        const end = surtKeyBytes(bytes, 0, bytes.length, target, 0);
        expect(decoder.decode(target.subarray(0, end))).toBe(surtKey(given));
        // It copies what is found in place, so that the same end means the same bytes.
        const inPlace = keyEndInSurt(bytes, 0, bytes.length);
        expect(inPlace === -1 || inPlace === end).toBe(true);
      }),
      { numRuns: cases(10_000) },
    );
  });

  it("finds ordinary keys in place", () => {
    const bytes = encoder.encode("com,a)/b/?c");
    expect(keyEndInSurt(bytes, 0, bytes.length)).toBe("com,a)/b".length);
  });

  it.each(["com,a)/b", "com,a)/*"])("says when the target is too small for %j", (given) => {
    const bytes = encoder.encode(given);
    expect(() => surtKeyBytes(bytes, 0, bytes.length, new Uint8Array(bytes.length - 1), 0)).toThrow(
      expect.objectContaining({ code: "MM_LIMIT" }),
    );
  });
});

describe("writePlainUri", () => {
  const target = new Uint8Array(4096);

  function keyOf(uri: string, queries: boolean): string | undefined {
    const source = encoder.encode(`<${uri}>`);
    const end = writePlainUri(source, 1, source.length - 1, target, 2, plainKeyBytes(queries));
    return end < 0 ? undefined : decoder.decode(target.subarray(2, end));
  }

  it("is the key of a URI, or gives up", () => {
    fc.assert(
      fc.property(anyUri, fc.boolean(), (uri, queries) => {
        expect([undefined, surtKey(surt(uri), { queries })]).toContain(keyOf(uri, queries));
      }),
      { numRuns: cases(3000) },
    );
  });

  it.each([
    "http://example.com",
    "https://www.Example.com/A/b/?q=1#f",
    "http://example.com/%41/%c3%A9?",
    "http://example.com?b=2&a=%20",
  ])("takes %s", (uri) => {
    for (const queries of [false, true]) {
      expect(keyOf(uri, queries)).toBe(surtKey(surt(uri), { queries }));
    }
  });

  it.each([
    "http://example.com/a*",
    "http://example.com/%2a",
    "http://127.0.0.1/",
    "http://a.com:8080/",
  ])("gives %s up", (uri) => {
    expect(keyOf(uri, false)).toBeUndefined();
  });

  it("leaves out a query with what is not plain, unless the map has queries", () => {
    expect(keyOf("http://example.com/a?b=*", false)).toBe("com,example)/a");
    expect(keyOf("http://example.com/a?sid=é", false)).toBe("com,example)/a");
    expect(keyOf("http://example.com/a?b=*", true)).toBeUndefined();
  });
});
