import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { MAX_ORIGINAL_LENGTH, originalUri, pastedAddress } from "../../src/http/original-uri.ts";

const badUri = expect.objectContaining({ code: "MM_BAD_URI" }) as Error;

function uriOf(text: string): string {
  try {
    return pastedAddress(text).uri;
  } catch (error) {
    return isMementoMapError(error) ? error.code : String(error);
  }
}

describe("originalUri", () => {
  it.each([
    ["example.org", "http://example.org"],
    ["example.org:8080/x", "http://example.org:8080/x"],
    ["HTTP://Example.org/", "HTTP://Example.org/"],
    ["ftp://example.org/", "ftp://example.org/"],
    ["http%3A%2F%2Fexample.org%2Fa%252Fb%3Fc", "http://example.org/a%2Fb?c"],
    ["https%3a%2f%2fexample.org", "https://example.org"],
    ["HTTP%3A%2F%2FWWW.EXAMPLE.ORG%2F", "HTTP://WWW.EXAMPLE.ORG/"],
    ["ftp%3A%2F%2Fexample.org%2F", "ftp://example.org/"],
    ["http%3A//example.org/a%2520b", "http://example.org/a%20b"],
    ["http%3A%2F%2Fe.org%2Fcaf%C3%A9", "http://e.org/caf%C3%A9"],
    ["http:/example.org/a//b", "http://example.org/a//b"],
    ["HTTP:/example.org/a", "HTTP://example.org/a"],
    ["http://example.org/http:/b", "http://example.org/http:/b"],
    ["example.org/http:/b", "http://example.org/http:/b"],
    ["http:80/a", "http://http:80/a"],
    ["http%2Fx", "http://http%2Fx"],
    ["http://http%3A%2F%2Fexample.org", "http://http%3A%2F%2Fexample.org"],
    ["http://example.org/a?b#c", "http://example.org/a?b"],
    ["http://user:secret@example.org/a@b", "http://example.org/a@b"],
    ["user@example.org/@", "http://example.org/@"],
    ["http://example.org?a@b", "http://example.org?a@b"],
  ])("makes of %s %s", (raw, uri) => {
    expect(originalUri(raw)).toBe(uri);
  });

  it("leaves every web address as it was sent", () => {
    const rest = fc.string({
      unit: fc.constantFrom(...Array.from("/.%2F?&=;,a\"'<>[]{}|\\^`~é:")),
    });
    fc.assert(
      fc.property(fc.constantFrom("http://a", "https://a"), rest, (start, text) => {
        expect(originalUri(`${start}${text}`)).toBe(`${start}${text}`);
      }),
    );
  });

  it.each([
    ["", /the URI is missing/],
    ["http://a/ b", /write %20/],
    ["http://a/\n", /remove the character 0A/],
    ["http://a/\u007f", /remove the character 7F/],
    ["http%3A%2F%2Fa%2F%0A", /remove the character 0A/],
    ["http://b1.test/%0a", /encoded control character/],
    ["http%3A%2F%2Fexample.org%2F%zz", /not valid percent-encoded UTF-8/],
    ["mailto:a@b", /not a web address/],
    ["javascript:alert(1)", /not a web address/],
    ["http://", /has no host/],
    [`http://a/${"x".repeat(MAX_ORIGINAL_LENGTH)}`, /8201 characters; at most 8192/],
  ])("refuses %j", (raw, message) => {
    expect(() => originalUri(raw)).toThrow(message);
    expect(() => originalUri(raw)).toThrow(badUri);
  });
});

describe("pastedAddress", () => {
  it.each([
    [" example.org/a \n", "http://example.org/a"],
    ['"http://example.org/a",', "http://example.org/a"],
    ["<http://example.org/a>", "http://example.org/a"],
    ["view-source:https://example.org/", "https://example.org/"],
    ["localhost", "http://localhost"],
    ["https://example.org/café#top", "https://example.org/caf%C3%A9"],
    ["https://example.org/a b", "https://example.org/a%20b"],
  ])("reads %j", (text, uri) => {
    expect(pastedAddress(text)).toEqual({ uri, datetime: undefined });
  });

  it.each([
    ["https://web.archive.org/web/20050101000000/http://example.org/", "20050101000000"],
    ["https://arquivo.pt/wayback/20050101000000im_/http://example.org/", "20050101000000"],
    ["https://a.example/x/y/2005/http://example.org/", "2005"],
  ])("unwraps the memento %s", (text, datetime) => {
    expect(pastedAddress(text)).toEqual({ uri: "http://example.org/", datetime });
  });

  it.each(["the web of today", "word", "", "javascript:alert(1)", "http://", "mailto:a@b"])(
    "refuses %j",
    (text) => {
      expect(() => pastedAddress(text)).toThrow(badUri);
    },
  );

  it("answers whatever is pasted, or refuses it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(uriOf(text)).toMatch(/^(?:[a-z][a-z0-9+.-]*:\/\/[\u0021-\u007e]+|MM_BAD_URI)$/i);
      }),
    );
  });
});
