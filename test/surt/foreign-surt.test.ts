import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasForeignHost, isForeignByte, uriOfSurt } from "../../src/surt/foreign-surt.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";

function uriOf(text: string): string {
  const bytes = Buffer.from(`x${text}x`, "latin1");
  return Buffer.from(uriOfSurt(bytes, 1, bytes.length - 1)).toString("latin1");
}

function isForeign(text: string): boolean {
  const bytes = Buffer.from(text, "latin1");
  return bytes.some(isForeignByte) || hasForeignHost(bytes, 0, bytes.indexOf(")"));
}

describe("SURTs of other dialects", () => {
  it.each([
    ["http://(com,example,www,)/y?z", "http://www.example.com/y?z"],
    ["https://(com,example,:8080)/", "https://example.com:8080/"],
    ["http://(com,example,:8080@user:pw)/", "http://example.com:8080/"],
    ["http://(127.0.0.1)/x", "http://127.0.0.1/x"],
    ["com,example,)/x", "http://example.com/x"],
    ["com,example,www)/x)/y", "http://www.example.com/x)/y"],
    ["COM,EXAMPLE)/Foo", "http://EXAMPLE.COM/Foo"],
    ["[2001:db8::1])/v6", "http://[2001:db8::1]/v6"],
    ["[2001:db8::1]:8080)/v6", "http://[2001:db8::1]:8080/v6"],
    ["2001:DB8::1)/v6", "http://[2001:DB8::1]/v6"],
    ["com,m\u00fcnchen)/", "http://m\u00fcnchen.com/"],
  ])("%s is of %s", (text, uri) => {
    expect(isForeign(text)).toBe(true);
    expect(uriOf(text)).toBe(uri);
  });

  it("are none of ours", () => {
    const host = fc.constantFrom("a.com", "www.a.b.org", "127.0.0.1", "a.com:8080", "[::1]", "x");
    const path = fc.constantFrom("", "a", "A/b(c)[d]", "%e4?Q=(1)", "a)/b", "é/*");
    fc.assert(
      fc.property(host, path, (name, rest) => {
        const ours = surt(`http://${name}/${rest}`);
        // A bracket of a path may be foreign or not: it makes no difference.
        expect(surt(uriOf(ours))).toBe(ours);
        expect(hasForeignHost(Buffer.from(ours), 0, ours.indexOf(")"))).toBe(false);
        expect([...Buffer.from(ours)].some(isForeignByte)).toBe(false);
      }),
    );
  });
});
