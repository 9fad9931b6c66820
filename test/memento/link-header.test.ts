import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLinkHeader } from "../../src/memento/links.ts";

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
    expect(parseLinkHeader(header)).toEqual([{ target, rels, anchor }]);
  });

  it("reads several, and passes over what makes no sense", () => {
    const header = ', junk, </a>; rel="x", , </b>; rel="y" junk, </c>';
    expect(parseLinkHeader(header).map(({ target }) => target)).toEqual(["/a", "/b", "/c"]);
  });

  it("takes any text in linear time", () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseLinkHeader(text))));
    expect(parseLinkHeader(`<a>${"; x=".repeat(100_000)}`)).toHaveLength(1);
    expect(parseLinkHeader(`<a>; x="${"\\".repeat(200_000)}`)).toEqual([]);
    expect(parseLinkHeader("<".repeat(200_000))).toEqual([]);
  });

  it("finds again what was written, except for blanks around a target", () => {
    const text = fc.string({ unit: "grapheme-ascii" }).map((s) => s.replaceAll(/["\\<>]/g, ""));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (list) => {
        const header = list.map(([target, anchor]) => `<${target}>; anchor="${anchor}"; rel=r`);
        const links = parseLinkHeader(header.join(", "));
        expect(links.map(({ target, anchor }) => [target, anchor])).toEqual(
          list.map(([target, anchor]) => [target.trim(), anchor]),
        );
      }),
    );
  });
});
