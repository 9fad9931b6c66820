import { describe, expect, it } from "vitest";
import { pagesToFollow } from "../../src/memento/timemap-reading.ts";
import { timeMapReader } from "../../src/memento/timemap-reader.ts";

function followed(text: string): string[] {
  const reader = timeMapReader();
  reader.write(Buffer.from(text));
  return pagesToFollow(reader.end()).map(({ uri }) => uri);
}

const MEMENTO = '<m>; rel=memento; datetime="Wed, 09 Apr 2008 20:30:51 GMT"';
const SELF = '<http://t/link/x>; rel="self"; type="application/link-format"';

describe("pagesToFollow", () => {
  it.each([
    [
      "pages with times",
      `${MEMENTO}, <1>; rel=self; from="Wed, 09 Apr 2008 20:30:51 GMT", <2>; rel=timemap; from="Thu, 10 Apr 2008 20:30:51 GMT"`,
      ["2"],
    ],
    ["the pages of an index", "<1>; rel=timemap, <2>; rel=timemap", ["1", "2"]],
    ["a next page, not the one before", `${MEMENTO}, <1>; rel=prev, <3>; rel=next`, ["3"]],
    [
      "no other formats, nor itself",
      `${SELF}, ${MEMENTO}, <http://t/link/x>; rel=timemap; type="application/link-format", <http://t/json/x>; rel=timemap; type="application/json"`,
      [],
    ],
    ["nothing that may be itself", `${MEMENTO}, <http://t/x>; rel=timemap`, []],
    ["no next memento", MEMENTO.replace("memento", '"next memento"'), []],
    [
      "the pages of JSON",
      '{"self": "1", "pages": {"prev": {"uri": "0"}, "next": {"uri": "2"}}}',
      ["2"],
    ],
    ["an index in JSON", '{"timemap_index": [{"uri": "1"}, {"uri": "2"}]}', ["1", "2"]],
    ["an index in CDXJ", '!meta {"timemap_index": [{"uri": "1"}]}', ["1"]],
  ])("names %s", (_name, text, uris) => {
    expect(followed(text)).toEqual(uris);
  });
});
