import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MementoList } from "../../src/memento/memento-list.ts";
import { datetimeOfEpochMs } from "../../src/memento/datetime.ts";
import { pagesToFollow, type TimeMapReading } from "../../src/memento/timemap-reading.ts";
import {
  TIMEMAP_FORMATS,
  type TimeMapDocument,
  type TimeMapFormat,
  type TimeMapPaging,
} from "../../src/memento/timemap-document.ts";
import { timeMapReader } from "../../src/memento/timemap-reader.ts";
import { describeMemento, timeGateLinks, writeTimeMap } from "../../src/memento/write-timemap.ts";

/** What MemGator 1.0-rc9 wrote of the mementos below, or of the one closest to 2008. */
function memGator(what: "timemap" | "description", format: TimeMapFormat): string {
  return readFileSync(`test/data/timemaps/memgator-${what}.${format}`, "utf8");
}

const MEMENTOS = MementoList.of(
  [20000620180259, 20000621011731, 20080409203051, 20091027204954].map((datetime, i) => ({
    uri: `http://h/${i + 1}/http://example.com/`,
    datetime,
  })),
);

const EXAMPLE: TimeMapDocument = {
  original: "http://example.com/",
  service: "http://localhost:1208",
  mementos: MEMENTOS,
};

function written(document: TimeMapDocument, format: TimeMapFormat): Buffer {
  return Buffer.concat([...writeTimeMap(document, format)]);
}

function read(bytes: Uint8Array): TimeMapReading {
  const reader = timeMapReader();
  reader.write(bytes);
  return reader.end();
}

const uri = fc
  .oneof(fc.webUrl(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }))
  .map((text) => `http://a/${text}`);
/** What a target of a link cannot hold, and blanks at its end, which are not its own. */
const linkUri = uri.map((text) => text.replaceAll(/[\p{Cc}<>]/gu, "").trimEnd());
const datetime = fc
  .integer({ min: 0, max: 4_000_000_000 })
  .map((second) => datetimeOfEpochMs(second * 1000));

describe("writeTimeMap", () => {
  it.each(TIMEMAP_FORMATS)("writes %s as MemGator does", (format) => {
    expect(written(EXAMPLE, format).toString()).toBe(memGator("timemap", format));
    const description = Buffer.from(describeMemento(EXAMPLE, format, 2)).toString();
    expect(description).toBe(memGator("description", format));
  });

  it.each(TIMEMAP_FORMATS)("writes what is read again, in %s", (format) => {
    const uris = format === "link" ? linkUri : uri;
    fc.assert(
      fc.property(
        uris,
        fc.array(fc.record({ uri: uris, datetime }), { maxLength: 20 }),
        (original, list) => {
          const document = { ...EXAMPLE, original, mementos: MementoList.of(list) };
          const reading = read(written(document, format));
          expect([...reading.mementos]).toEqual([...document.mementos]);
          expect(reading.original).toBe(original);
          expect(reading.timegate).toBe(`http://localhost:1208/timegate/${original}`);
          expect(reading.faults).toBe(0);
          expect(pagesToFollow(reading)).toEqual([]);
        },
      ),
      { examples: [["http://a/\u2028b", []]] },
    );
  });

  it("writes JSON that every parser takes, of any URI", () => {
    fc.assert(
      fc.property(
        uri,
        fc.array(fc.record({ uri, datetime }), { maxLength: 5 }),
        (original, list) => {
          const document = { ...EXAMPLE, original, mementos: MementoList.of(list) };
          const value = JSON.parse(written(document, "json").toString()) as {
            mementos: { list: { uri: string }[]; first?: { uri: string } };
          };
          const uris = [...document.mementos].map((memento) => memento.uri);
          expect(value.mementos.list.map((item) => item.uri)).toEqual(uris);
          expect(value.mementos.first?.uri).toBe(uris[0]);
        },
      ),
    );
  });

  it.each(TIMEMAP_FORMATS)("writes long TimeMaps in blocks, in %s", (format) => {
    const mementos = new MementoList();
    for (let i = 0; i < 5000; i++) mementos.add(`http://h/${i}`, 20080409203051);
    const blocks = [...writeTimeMap({ ...EXAMPLE, mementos }, format)];
    expect(blocks.length).toBeGreaterThan(5);
    for (const block of blocks) expect(block.length).toBeLessThan(70_000);
    expect([...read(Buffer.concat(blocks)).mementos]).toEqual([...mementos]);
  });

  it("percent-encodes the bytes of a URI that is not UTF-8, and those that end a link", () => {
    const mementos = new MementoList();
    mementos.addBytes(Buffer.from("http://h/\xe9<>\n", "latin1"), 0, 13, 20080409203051);
    const text = written({ ...EXAMPLE, mementos }, "link").toString("latin1");
    expect(text).toContain("<http://h/%E9%3C%3E%0A>; rel");
  });

  it("lets no original end a link", () => {
    const document = { ...EXAMPLE, original: "http://a/>; rel=x, <b\n" };
    expect(written(document, "link").toString()).toContain("<http://a/%3E; rel=x, %3Cb%0A>; rel=");
  });
});

describe("timeGateLinks", () => {
  it("is the value of a header", () => {
    expect(timeGateLinks(EXAMPLE, 0)).toBe(
      '<http://example.com/>; rel="original", <http://h/1/http://example.com/>; rel="first memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT", <http://h/2/http://example.com/>; rel="next memento"; datetime="Wed, 21 Jun 2000 01:17:31 GMT", <http://h/4/http://example.com/>; rel="last memento"; datetime="Tue, 27 Oct 2009 20:49:54 GMT", <http://localhost:1208/timemap/link/http://example.com/>; rel="timemap"; type="application/link-format", <http://localhost:1208/timemap/json/http://example.com/>; rel="timemap"; type="application/json", <http://localhost:1208/timemap/cdxj/http://example.com/>; rel="timemap"; type="application/cdxj+ors", <http://localhost:1208/timegate/http://example.com/>; rel="timegate"',
    );
  });

  it("is printable ASCII, whatever the URIs are", () => {
    fc.assert(
      fc.property(uri, uri, (original, memento) => {
        const mementos = MementoList.of([{ uri: memento, datetime: 20080409203051 }]);
        expect(timeGateLinks({ ...EXAMPLE, original, mementos }, 0)).toMatch(/^[ -~]+$/);
      }),
    );
  });
});

describe("pages", () => {
  const paging: Omit<TimeMapPaging, "current"> = {
    pages: [
      { start: 0, end: 2 },
      { start: 2, end: 3 },
      { start: 3, end: 4 },
    ],
    uriOf: (page, format) =>
      `http://localhost:1208/timemap/${format}/${page + 1}/http://example.com/`,
  };

  it.each(TIMEMAP_FORMATS)("can be followed from the first, in %s", (format) => {
    const found: object[] = [];
    const seen = new Set<string>([paging.uriOf(0, format)]);
    const follow = (current: number): void => {
      const reading = read(written({ ...EXAMPLE, paging: { ...paging, current } }, format));
      expect(reading.faults).toBe(0);
      found.push(...reading.mementos);
      for (const { uri, from, until } of pagesToFollow(reading)) {
        expect(from).toBeLessThanOrEqual(until ?? 0);
        if (seen.has(uri)) continue;
        seen.add(uri);
        follow(paging.pages.findIndex((_, i) => paging.uriOf(i, format) === uri));
      }
    };
    follow(0);
    expect(found).toEqual([...MEMENTOS]);
  });

  it("say which time they cover", () => {
    const document = { ...EXAMPLE, paging: { ...paging, current: 1 } };
    expect(written(document, "link").toString()).toBe(`<http://example.com/>; rel="original",
<http://localhost:1208/timemap/link/2/http://example.com/>; rel="self"; type="application/link-format"; from="Wed, 09 Apr 2008 20:30:51 GMT"; until="Wed, 09 Apr 2008 20:30:51 GMT",
<http://h/3/http://example.com/>; rel="memento"; datetime="Wed, 09 Apr 2008 20:30:51 GMT",
<http://localhost:1208/timemap/link/1/http://example.com/>; rel="timemap"; type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT"; until="Wed, 21 Jun 2000 01:17:31 GMT",
<http://localhost:1208/timemap/link/3/http://example.com/>; rel="timemap"; type="application/link-format"; from="Tue, 27 Oct 2009 20:49:54 GMT"; until="Tue, 27 Oct 2009 20:49:54 GMT",
<http://localhost:1208/timemap/json/2/http://example.com/>; rel="timemap"; type="application/json",
<http://localhost:1208/timemap/cdxj/2/http://example.com/>; rel="timemap"; type="application/cdxj+ors",
<http://localhost:1208/timegate/http://example.com/>; rel="timegate"
`);
    expect(JSON.parse(written(document, "json").toString())).toMatchObject({
      self: "http://localhost:1208/timemap/json/2/http://example.com/",
      mementos: { list: [{}], first: { uri: "http://h/1/http://example.com/" } },
      pages: {
        prev: {
          from: "2000-06-20T18:02:59Z",
          until: "2000-06-21T01:17:31Z",
          uri: "http://localhost:1208/timemap/json/1/http://example.com/",
        },
        next: { uri: "http://localhost:1208/timemap/json/3/http://example.com/" },
      },
    });
  });
});
