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
    expect(parseLinkHeader(header)).toMatchObject([{ target, rels, anchor, type: undefined }]);
  });

  it("reads what Memento needs", () => {
    const header = `<http://a/t>; rel="timemap"; type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT"; until="Wed, 09 Apr 2008 20:30:51 GMT", <http://a/m>; rel="first memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT"`;
    expect(parseLinkHeader(header)).toMatchObject([
      {
        target: "http://a/t",
        type: "application/link-format",
        from: 20000620180259,
        until: 20080409203051,
        datetime: undefined,
      },
      { target: "http://a/m", rels: ["first", "memento"], datetime: 20000620180259 },
    ]);
  });

  it.each([
    ["title=plain", "plain"],
    [`title="plain"; title*=UTF-8'en'%C2%A3%20rates`, "£ rates"],
    [`title="plain"; title*=UTF-8''%A3`, "plain"],
    [`title="plain"; title*=iso-8859-1'en'%A3`, "plain"],
    ["rel=x", undefined],
  ])("finds the title of %s", (parameters, title) => {
    expect(parseLinkHeader(`<a>; ${parameters}`)[0]?.title).toBe(title);
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

  it("finds again what was written, except for blanks around a target", () => {
    const text = fc.string({ unit: "grapheme-ascii" }).map((s) => s.replaceAll(/["\\<>]/g, ""));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (list) => {
        const header = list.map(([target, title]) => `<${target}>; title="${title}"; rel=r`);
        const links = parseLinkHeader(header.join(", "));
        expect(links.map(({ target, title }) => [target, title])).toEqual(
          list.map(([target, title]) => [target.trim(), title]),
        );
      }),
    );
  });
});
