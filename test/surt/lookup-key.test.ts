import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coveringKeys, NONE } from "../../src/surt/covering-keys.ts";
import { hostEnd, surtKey } from "../../src/surt/key.ts";
import { Key } from "../../src/surt/lookup-key.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { anyUri } from "./uri-arbitraries.ts";

const decoder = new TextDecoder();

function textOf(key: Key): string {
  key.readPath();
  return decoder.decode(key.bytes.subarray(0, key.length));
}

/** The pieces of a key, as text. */
function piecesOf(key: Key): object {
  key.readPath();
  const upTo = (end: number): string => decoder.decode(key.bytes.subarray(0, end));
  return {
    key: upTo(key.length),
    page: upTo(key.pageEnd),
    host: key.hostEnd < 0 ? undefined : upTo(key.hostEnd),
    folders: key.hostEnd < 0 ? [] : [...key.folderEnds.subarray(0, key.depth + 1)].map(upTo),
    labels: [...key.labelEnds.subarray(0, key.readLabels())].map(upTo),
  };
}

describe("Key", () => {
  const key = new Key();

  it.each([true, false])("of a URI is that of its SURT (queries: %j)", (queries) => {
    fc.assert(
      fc.property(anyUri, (uri) => {
        expect(textOf(key.ofUriText(uri, queries))).toBe(surtKey(surt(uri), { queries }));
        const ofUri = piecesOf(key.ofUriText(uri, queries));
        expect(ofUri).toEqual(piecesOf(key.ofSurtText(surt(uri), queries)));
        expect(piecesOf(key.copy())).toEqual(ofUri);
      }),
    );
  });

  it("is taken apart", () => {
    expect(piecesOf(key.ofUriText("http://www.example.com:8080/a/b/?x=1", true))).toEqual({
      key: "com,example:8080)/a/b?x=1",
      page: "com,example:8080)/a/b",
      host: "com,example:8080",
      folders: ["com,example:8080)", "com,example:8080)/a", "com,example:8080)/a/b"],
      labels: ["com", "com,example:8080"],
    });
  });

  it("finds no host in the query of what has none", () => {
    const { hostEnd: end, pageEnd } = key.ofSurtText("urn:a?b)/c", true);
    expect([end, pageEnd]).toEqual([-1, 5]);
    expect(hostEnd("com,example)/a")).toBe(11);
  });

  it("asks only for the folders and labels of its masks", () => {
    key.ofUriText("http://a.b.c/d/e", false);
    key.below = 0b010;
    key.spreads = 0;
    key.hostsBelow = 0b011;
    const asked: number[][] = [];
    coveringKeys(key, false, {
      ask({ distance }, form, index) {
        asked.push([form, index, distance]);
        return NONE;
      },
    });
    expect(asked).toEqual([
      [1, 0, 0],
      [3, 1, 2],
      [6, 1, 7],
      [6, 0, 8],
    ]);
  });
});
