import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CdxQuery } from "../../src/harvest/cdx-request.ts";
import {
  CDX_MATCHES,
  cursorOfProbe,
  lastRowUrl,
  pageCountUrl,
  pageUrl,
  probeUrl,
  resumeEnd,
  serverAddress,
} from "../../src/harvest/cdx-request.ts";

const API = "https://archive.example/cdx?collection=a%20b";

const queries: fc.Arbitrary<CdxQuery> = fc.record(
  {
    url: fc.string({ unit: "binary" }),
    match: fc.constantFrom(...CDX_MATCHES),
    from: fc.stringMatching(/^\d{4,14}$/),
    to: fc.stringMatching(/^\d{4,14}$/),
  },
  { requiredKeys: ["url"] },
);

describe("requests", () => {
  it("ask for what is wanted, whatever it is, and keep what the address says", () => {
    fc.assert(
      fc.property(queries, (query) => {
        for (const address of [
          pageCountUrl(API, query),
          lastRowUrl(API, query, { paging: "stream" }),
          pageUrl(API, query, { paging: "stream" }, 10) ?? "",
          pageUrl(API, query, { paging: "pages", page: 2, pages: 3 }, 10) ?? "",
          pageUrl(API, query, { paging: "resume", key: query.url }, 10) ?? "",
        ]) {
          const { pathname, searchParams } = new URL(address);
          expect(pathname).toBe("/cdx");
          expect(searchParams.getAll("collection")).toEqual(["a b"]);
          expect(searchParams.getAll("url")).toEqual([query.url]);
          const { match } = query;
          expect(searchParams.get("matchType")).toBe(
            match === undefined || match === "exact" ? null : match,
          );
          expect(searchParams.get("from")).toBe(query.from ?? null);
          expect(searchParams.get("to")).toBe(query.to ?? null);
        }
      }),
    );
  });

  it("find out how a server pages by a page that nobody holds", () => {
    for (const [url, host] of [
      ["a.org", "a.org"],
      ["http://a.org:80/x?y", "a.org:80"],
      ["*.a.org", "a.org"],
      ["a.org/*", "a.org"],
    ]) {
      const { searchParams } = new URL(probeUrl(API, { url, match: "domain", from: "2010" }));
      expect(searchParams.get("url")).toMatch(new RegExp(`^${host}/mementomap-`));
      expect(searchParams.get("showNumPages")).toBe("true");
      expect(searchParams.has("matchType")).toBe(false);
    }
  });
});

describe("cursorOfProbe", () => {
  const stream = { paging: "stream" };
  it.each([
    ["12\n", { paging: "resume", key: undefined }],
    ["0", { paging: "resume", key: undefined }],
    ['{"pages": 3, "pageSize": 5, "blocks": 13}\n', { paging: "pages", page: 0, pages: 3 }],
    ['{"pages": 0}', { paging: "pages", page: 0, pages: 0 }],
    ["", stream],
    ["com,a)/ 20140101000000 {}", stream],
    ['{"pages": -1}', stream],
    ['{"pages": 1.5}', stream],
    ['{"pages": "3"}', stream],
    ['{"pages": 1e300}', stream],
    ['{"urlkey": "com,a)/"}\n{"urlkey": "com,b)/"}', stream],
    ["{", stream],
  ])("%j", (answer, expected) => {
    expect(cursorOfProbe(answer)).toEqual(expected);
  });
});

describe("resumeEnd", () => {
  const lines = fc
    .array(fc.stringMatching(/^[a-z]+ \d+ x$/), { maxLength: 5 })
    .map((all) => all.map((line) => `${line}\n`).join(""));

  it("finds the key that was put there, and where it begins", () => {
    const keys = fc.string({ minLength: 1, unit: "binary" });
    fc.assert(
      fc.property(lines, keys, fc.constantFrom("\n", "\r\n"), (before, key, end) => {
        const text = `${before.replaceAll("\n", end)}${end}${encodeURIComponent(key)}${end}`;
        const found = resumeEnd(text);
        expect(found?.key).toBe(key);
        expect(text.slice(0, -(found?.length ?? 0))).toBe(before.replaceAll("\n", end));
        expect(found?.lines).toBe(2);
      }),
    );
  });

  it("finds none where there is none", () => {
    fc.assert(
      fc.property(lines, (text) => {
        expect(resumeEnd(text)).toBeUndefined();
      }),
    );
  });

  it.each([
    ["\na+b\n", { key: "a b", length: 5, lines: 2 }],
    ["x y\n\n%zz\n", { key: "%zz", length: 5, lines: 2 }],
    ["x y\n\nkey\n\n\n", { key: "key", length: 7, lines: 4 }],
    ["x y\nkey\n", undefined],
    ["x y\n\nno key\n", undefined],
  ])("%j", (text, expected) => {
    expect(resumeEnd(text)).toEqual(expected);
  });
});

describe("serverAddress", () => {
  it.each(["nowhere", "", "ftp://a.org/", "//a.org/", "file:///etc/passwd"])(
    "refuses %j",
    (text) => {
      expect(() => serverAddress(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
    },
  );
});
