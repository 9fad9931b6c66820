import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_ORIGINAL_LENGTH, originalUri } from "../../src/aggregate/service/request-target.ts";

describe("originalUri", () => {
  it.each([
    ["example.org", "http://example.org"],
    ["example.org:8080/x", "http://example.org:8080/x"],
    ["HTTP://Example.org/", "HTTP://Example.org/"],
    ["ftp://example.org/", "ftp://example.org/"],
    ["mailto:a@b", "http://mailto:a@b"],
    ["http%3A%2F%2Fexample.org%2Fa%252Fb%3Fc", "http://example.org/a%2Fb?c"],
    ["https%3a%2f%2fexample.org", "https://example.org"],
    ["http%3A%2F%2Fexample.org%2F%zz", "http://http%3A%2F%2Fexample.org%2F%zz"],
    ["http%2Fx", "http://http%2Fx"],
    ["http://http%3A%2F%2Fexample.org", "http://http%3A%2F%2Fexample.org"],
  ])("makes of %s %s", (raw, uri) => {
    expect(originalUri(raw)).toBe(uri);
  });

  it("leaves every web address as it was sent", () => {
    const rest = fc.string({
      unit: fc.constantFrom(...Array.from("/.%2F?#&=;,a\"'<>[]{}|\\^`~é")),
    });
    fc.assert(
      fc.property(fc.constantFrom("http://", "https://"), rest, (scheme, text) => {
        expect(originalUri(`${scheme}${text}`)).toBe(`${scheme}${text}`);
      }),
    );
  });

  it.each([
    ["", /the URI is missing/],
    ["http://a/ b", /write %20/],
    ["http://a/\n", /write %0A/],
    ["http://a/\u007f", /write %7F/],
    ["http%3A%2F%2Fa%2F%0A", /write %0A/],
    [`http://a/${"x".repeat(MAX_ORIGINAL_LENGTH)}`, /8201 characters; at most 8192/],
  ])("refuses %j", (raw, message) => {
    expect(() => originalUri(raw)).toThrow(message);
    expect(() => originalUri(raw)).toThrow(expect.objectContaining({ code: "MM_BAD_URI" }));
  });
});
