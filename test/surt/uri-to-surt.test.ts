import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteString } from "../../src/bytes/bytes.ts";
import { canonicalSurt } from "../../src/surt/canonical-surt.ts";
import { surt, surtBytes } from "../../src/surt/uri-to-surt.ts";
import { anyUri } from "./uri-arbitraries.ts";
import { cases } from "../support/cases.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** With other text around it, because indexes hold one address after the other. */
const NEIGHBOUR = encoder.encode("www.%2e:80/?a");

function surtOfBytes(uri: Uint8Array): string {
  const source = Uint8Array.of(...NEIGHBOUR, ...uri, ...NEIGHBOUR);
  const start = NEIGHBOUR.length;
  const target = new Uint8Array(uri.length * 32 + 64);
  const end = surtBytes(source, start, start + uri.length, target, 0);
  return decoder.decode(target.subarray(0, end));
}

describe("surt", () => {
  it.each([
    ["http://www.Example.com:80/A/b/?z=1&a=2#top", "com,example)/a/b?a=2&z=1"],
    ["example.com", "com,example)/"],
    ["", "-"],
    [" \n", "-"],
    ["http://Bücher.example/é", "example,xn--bcher-kva)/%c3%a9"],
    ["http://faß.example/", "example,fass)/"],
    ["http://user:secret@example.com:8080/", "com,example:8080)/"],
    ["http://127.0.0.1/x", "1,0,0,127)/x"],
    ["https://[2001:DB8::1]:8443/x", "[2001:db8::1]:8443)/x"],
    ["http://[::1]:80/a", "::1)/a"],
    ["https://[::1]:443/a", "::1)/a"],
    ["http://[::1]:0/a", "::1)/a"],
    ["http://[::1]:8080/", "[::1]:8080)/"],
    ["http://[::1:8080]/", "::1:8080)/"],
    ["example.com:80/a", "com,example)/a"],
    ["Example.com:8080?b", "com,example:8080)/?b"],
    ["soap.beep:a", "soap.beep:a"],
    ["http://a.com/b//c/./d/../e/", "com,a)/b/c/e"],
    ["http://a.com/%2541%20b", "com,a)/a%20b"],
    ["http://a.com/x?b=2&a&a=&a=1", "com,a)/x?a&a=&a=1&b=2"],
    ["http://a.com/(S(4hqa0555fwsecu455xqckv45))/x.aspx", "com,a)/x.aspx"],
    ["http://a.com/x?a=1&PHPSESSID=9682993c8daa2c5497996114facdc805&b", "com,a)/x?a=1&b"],
    ["mailto:Someone@Example.com", "mailto:someone@example.com"],
    ["dns:www.example.com", "dns:www.example.com"],
  ])("of %j is %j", (uri, expected) => {
    expect(surt(uri)).toBe(expected);
  });

  // Other tools raise an error for these. A key of its own serves better than none.
  it.each([
    ["http://example.com:http/", "com,example:http)/"],
    ["http://example.com:99999/", "com,example:99999)/"],
    ["http://::1/x", "::1)/x"],
    ["http://example.com/\ud800", "com,example)/%ef%bf%bd"],
  ])("gives %j the key %j", (uri, expected) => {
    expect(surt(uri)).toBe(expected);
  });

  it("is printable ASCII without blanks, whatever the input", () => {
    fc.assert(
      fc.property(anyUri, (uri) => {
        expect(surt(uri)).toMatch(/^[!-~]+$/);
      }),
      { numRuns: cases(3000) },
    );
  });

  it("has no use for a second pass: the SURT of a canonical address is the same", () => {
    const labels = fc.array(fc.stringMatching(/^[a-z][a-z0-9-]{0,7}$/), {
      minLength: 2,
      maxLength: 5,
    });
    const segments = fc.array(fc.stringMatching(/^[a-z0-9_-][a-z0-9._~-]{0,9}$/), { maxLength: 5 });
    fc.assert(
      fc.property(labels, segments, (host, path) => {
        fc.pre(!/^www\d*$/.test(host[0] ?? ""));
        const key = surt(`https://WWW.${host.join(".")}/${path.join("/").toUpperCase()}/`);
        expect(key).toBe(`${host.toReversed().join(",")})/${path.join("/")}`);
        const [reversed = "", rest = ""] = key.split(")");
        expect(surt(`http://${reversed.split(",").reverse().join(".")}${rest}`)).toBe(key);
      }),
    );
  });

  it.each([
    ["%25".repeat(100_000), "nested escapes"],
    [`http://a.com${"/..".repeat(100_000)}`, "dot segments"],
    [`http://a.com/?${"cfid=".repeat(100_000)}`, "halves of session ids"],
    [`http://a.com/?${"&cftoken=1".repeat(50_000)}`, "other halves of session ids"],
    [
      `http://a.com${"/(4hqa0555fwsecu455xqckv45)/?".repeat(20_000).replaceAll("?", "%3f")}.aspx`,
      "segments",
    ],
    [`http://${"é".repeat(200_000)}/`, "a long label"],
    [`http://${"é.".repeat(100_000)}/`, "many labels"],
    [`http://${"9".repeat(300_000)}/`, "a long number"],
    [`http://${"www.".repeat(100_000)}/`, "many www"],
    ["http://".repeat(50_000), "repeated schemes"],
    [`http://a.com/?${"b&a&".repeat(100_000)}`, "many parameters"],
    [`http:${"/".repeat(300_000)}a`, "slashes"],
    [`http://a${":".repeat(300_000)}`, "colons"],
    [`${" ".repeat(300_000)}a`, "blanks"],
  ])("takes linear time on hostile input", (uri) => {
    const start = performance.now();
    surt(uri);
    // Quadratic time would be minutes; the bound is far above what a busy machine needs.
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe("surtBytes", () => {
  it("equals surt, and the fast path equals the rules in full", () => {
    fc.assert(
      fc.property(anyUri, (uri) => {
        const bytes = encoder.encode(uri);
        const expected = canonicalSurt(byteString(bytes, 0, bytes.length));
        expect(surt(uri)).toBe(expected);
        expect(surtOfBytes(bytes)).toBe(expected);
      }),
      { numRuns: cases(10_000) },
    );
  });

  it("takes any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        const uri = new Uint8Array([...encoder.encode("http://a.com/"), ...noise]);
        expect(surtOfBytes(uri)).toMatch(/^[!-~]+$/);
        expect(surtOfBytes(noise)).toMatch(/^[!-~]+$/);
      }),
    );
  });

  it("percent-encodes what is not UTF-8 in a path, and leaves it out of a host", () => {
    expect(surtOfBytes(Uint8Array.of(...encoder.encode("http://a.com/"), 0xff, 0xfe))).toBe(
      "com,a)/%ff%fe",
    );
    expect(
      surtOfBytes(Uint8Array.of(...encoder.encode("http://a"), 0x80, ...encoder.encode("b.com/"))),
    ).toBe("com,ab)/");
  });

  it("reads and writes only the ranges it is given", () => {
    const source = encoder.encode("xxhttp://a.com/b?cxx");
    const target = new Uint8Array(32).fill(0x2e);
    const end = surtBytes(source, 2, source.length - 2, target, 4);
    expect(decoder.decode(target.subarray(0, end))).toBe("....com,a)/b?c");
    const uri = encoder.encode("http://a.com:8080");
    expect(surtBytes(uri, 0, "http://a.com".length, target, 0)).toBe("com,a)/".length);
  });

  it.each(["http://example.com/a/b", "http://example.com/a/../é"])(
    "says when the target is too small for %j",
    (uri) => {
      const source = encoder.encode(uri);
      const length = surt(uri).length;
      const fits = new Uint8Array(length);
      expect(surtBytes(source, 0, source.length, fits, 0)).toBe(length);
      expect(() => surtBytes(source, 0, source.length, fits, 1)).toThrow(
        expect.objectContaining({ code: "MM_LIMIT" }),
      );
    },
  );
});
