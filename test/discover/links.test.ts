import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { htmlLinks } from "../../src/discover/html-links.ts";
import { parseLinkHeader } from "../../src/discover/link-header.ts";
import { sniff } from "../../src/discover/sniff.ts";

describe("parseLinkHeader", () => {
  it.each<[string, string[], string | undefined]>([
    ['</m>; rel="mementomap"', ["/m", "mementomap"], undefined],
    ["</m>;rel=mementomap", ["/m", "mementomap"], undefined],
    [
      '</m>; REL="MementoMap  next"; anchor="https://a/"',
      ["/m", "mementomap", "next"],
      "https://a/",
    ],
    ['</m>; title="a, \\"b\\"; c"; rel="mementomap"', ["/m", "mementomap"], undefined],
    ['<a,b;c>; rel="mementomap"; rel="other"', ["a,b;c", "mementomap"], undefined],
    ['</m>; datetime="Wed, 09 Apr 2008 20:30:51 GMT"; rel=memento', ["/m", "memento"], undefined],
  ])("reads %s", (header, [target, ...rels], anchor) => {
    expect(parseLinkHeader(header)).toEqual([{ target, rels, anchor, type: undefined }]);
  });

  it("reads several, and passes over what makes no sense", () => {
    const header = ', junk, </a>; rel="x", , </b>; rel="y" junk, </c>';
    expect(parseLinkHeader(header).map(({ target }) => target)).toEqual(["/a", "/b", "/c"]);
  });

  it("takes any text in linear time", () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseLinkHeader(text))));
    const started = performance.now();
    parseLinkHeader(`<a>${"; x=".repeat(100_000)}`);
    parseLinkHeader(`<a>; x="${"\\".repeat(200_000)}`);
    parseLinkHeader("<".repeat(200_000));
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it("finds again what was written", () => {
    const text = fc.string({ unit: "grapheme-ascii" }).map((s) => s.replaceAll(/["\\<>]/g, ""));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (list) => {
        const header = list.map(([target, title]) => `<${target}>; title="${title}"; rel=r`);
        expect(parseLinkHeader(header.join(", ")).map(({ target }) => target)).toEqual(
          list.map(([target]) => target),
        );
      }),
    );
  });
});

describe("htmlLinks", () => {
  it.each([
    ['<link rel="mementomap" href="/m">', ["/m"]],
    ["<LINK REL=mementomap HREF=/m>", ["/m"]],
    ["<link href='/m?a=1&amp;b=2' rel='x mementomap'/>", ["/m?a=1&b=2"]],
    ['<link rel="stylesheet" href="/s">', []],
    ['<!-- <link rel="mementomap" href="/m"> -->', []],
    ['<script>"<link rel=mementomap href=/m>"</script>', []],
    ["<title><link rel=mementomap href=/m></title>", []],
    ['<link title="a>b" rel=mementomap href=/m>', ["/m"]],
    ['<link rel="mementomap">', []],
    ["<link rel=mementomap href=/a><link rel=mementomap href=/b>", ["/a", "/b"]],
  ])("finds in %s", (html, hrefs) => {
    expect(htmlLinks(html, "mementomap").hrefs).toEqual(hrefs);
  });

  it("tells the base", () => {
    expect(htmlLinks('<base href="https://b/">', "x").base).toBe("https://b/");
  });

  it("takes any text in reasonable time", () => {
    const started = performance.now();
    for (const text of [
      "<link ".repeat(50_000),
      '<link "'.repeat(50_000),
      "<!--".repeat(50_000),
      "<script".repeat(30_000),
    ]) {
      htmlLinks(text, "x");
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("sniff", () => {
  it.each<[string, string]>([
    ['!context ["https://git.io/mementomap"]\n', "map"],
    ["@meta 0 {name: 'x'}\n", "map"],
    ["com,cnn)/ 12\n", "map"],
    ["* 5/3\ncom,cnn)/ 12\n", "map"],
    ["<!DOCTYPE html><html>", "html"],
    ["\uFEFF  <html>", "html"],
    ['<?xml version="1.0"?>', "html"],
    ["", "empty"],
    ["Not found\n", "other"],
    ['{"error": 404}', "other"],
    ["\u001f\u008b\b", "compressed"],
  ])("of %j is %s", (text, kind) => {
    expect(sniff(kind === "compressed" ? Buffer.from(text, "latin1") : Buffer.from(text))).toBe(
      kind,
    );
  });
});
