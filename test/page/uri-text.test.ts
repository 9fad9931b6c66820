import { describe, expect, it } from "vitest";
import { uriText } from "../../page/parts/uri-text.ts";

const shown = (uri: string): string | undefined =>
  uriText(uri)
    .readable?.map(({ text, isMark }) => (isMark ? `[${text}]` : text))
    .join("");

describe("a URI for people", () => {
  it.each([
    ["http://xn--e1afmkfd.com/", "http://пример.com/"],
    ["http://xn--mnchen-3ya.de/stra%C3%9Fe", "http://münchen.de/straße"],
    ["http://xn--fiqs8s/%E4%B8%AD", "http://中国/中"],
    ["http://a.example/%E2%80%AEgpj", "http://a.example/[U+202E]gpj"],
  ])("reads %s as %s", (uri, text) => {
    expect(shown(uri)).toBe(text);
  });

  it.each(["http://a.example/a%2Fb%20c%3F", "http://xn--999999999/", "http://a.example/%FF", ""])(
    "leaves %s as it is",
    (uri) => {
      expect(uriText(uri).readable).toBeUndefined();
    },
  );

  it("marks what would not be seen, and names of several scripts", () => {
    expect(uriText("http://a\u200Bb.example/").raw[1]).toEqual({ text: "U+200B", isMark: true });
    expect(uriText("http://раypal.com/").mixed).toEqual({
      label: "раypal",
      scripts: ["Latin", "Cyrillic"],
    });
    expect(uriText("http://пример.com/").mixed).toBeUndefined();
  });
});
