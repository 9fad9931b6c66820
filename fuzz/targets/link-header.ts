import { parseLinkHeader } from "../../src/memento/links.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "relations are words in lower case; no more links than there are `<`",
  seeds: () => [
    '<http://a.example/>; rel="original", <http://b.example/timemap/link/http://a.example/>; rel="timemap"; type="application/link-format"',
    '<https://c.example/2014/http://a.example/>; rel="first memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT"',
    "</.well-known/mementomap>; rel=mementomap; anchor=\"https://archive.example/\"; title*=UTF-8''M%c3%a4p",
    '<a,b;c>;rel="x \\"y\\"";foo;bar=, ,<d>',
  ],
  words: [
    "rel=",
    "anchor=",
    "datetime=",
    "title*=UTF-8'en'",
    "<",
    ">;",
    '"',
    "\\",
    ", <",
    "memento",
  ],
  run(input) {
    const text = latin1(input);
    const links = parseLinkHeader(text);
    must(links.length <= text.split("<").length - 1, "a link for each <", links.length);
    for (const { rels } of links) {
      for (const rel of rels) must(rel !== "" && rel === rel.toLowerCase(), "a relation", rel);
    }
  },
};
