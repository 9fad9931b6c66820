import { type Memento, MementoList } from "../../src/memento/memento-list.ts";
import type { TimeMapReading } from "../../src/memento/timemap-reading.ts";
import type { TimeMapFormat } from "../../src/memento/timemap-document.ts";
import { TIMEMAP_FORMATS, TIMEMAP_TYPES } from "../../src/memento/timemap-document.ts";
import { timeMapReader } from "../../src/memento/timemap-reader.ts";
import { writeTimeMap } from "../../src/memento/write-timemap.ts";
import { mustEqual, outcomeOf, randomChunks, sometimesLong, Violation } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const SERVICE = "http://aggregator.example";

export const target: TargetDefinition = {
  holds: "chunks do not matter; mementos that are read come back from a TimeMap in any format",
  seeds: () => [
    '<http://a.com/>; rel="original",\n<http://x.org/timemap/link/http://a.com/>; rel="self"; type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT",\n<http://x.org/timegate/http://a.com/>; rel="timegate",\n<http://x.org/20000620180259/http://a.com/>; rel="first memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT",\n<http://x.org/2001/http://a.com/>; rel="memento"; datetime="Wed, 27 Jun 2001 20:47:37 GMT"\n',
    '{"original_uri":"http://a.com/","timemap_uri":{"link_format":"http://x.org/l"},"timegate_uri":"http://x.org/g","mementos":{"list":[{"datetime":"2000-06-20T18:02:59Z","uri":"http://x.org/2000/http://a.com/"}],"first":{"datetime":"2000-06-20T18:02:59Z","uri":"http://x.org/2000/http://a.com/"}}}',
    '!context ["http://tools.ietf.org/html/rfc7089"]\n!id {"uri": "http://x.org/timemap/cdxj/http://a.com/"}\n!keys ["memento_datetime_YYYYMMDDhhmmss"]\n!meta {"original_uri": "http://a.com/"}\n!meta {"timegate_uri": "http://x.org/g"}\n20000620180259 {"uri": "http://x.org/2000/http://a.com/", "rel": "first memento", "datetime": "Tue, 20 Jun 2000 18:02:59 GMT"}\n',
    'com,a)/ 20140101000000 {"url": "http://a.com/", "mime": "text/html", "status": "200", "filename": "x.warc.gz"}\n',
    '<http://x.org/t2>; rel="timemap"; type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT"; until="Wed, 27 Jun 2001 20:47:37 GMT"',
    "[]",
  ],
  words: [
    '>; rel="memento"; datetime="',
    '"datetime":',
    '"uri":',
    '"list":[',
    '"pages":',
    "!meta ",
    '{"uri": "',
    ",\n<",
    "2000-02-29T00:00:00Z",
    "Tue, 20 Jun 2000 18:02:59 GMT",
  ],
  run(given, random) {
    const input = sometimesLong(given, random, 100_000);
    const contentType = random.pick([undefined, ...Object.values(TIMEMAP_TYPES), "text/html"]);
    const options = { contentType, url: "http://x.org/timemap/http://a.com/", maxLinkBytes: 4096 };
    const read = (chunks: readonly Uint8Array[]): Reading => {
      const reader = timeMapReader(options);
      for (const chunk of chunks) {
        reader.write(chunk);
        // A reader does not hold on to what it was given.
        chunk.fill(0x21);
      }
      return plain(reader.end());
    };
    const whole = outcomeOf(() => read([input.slice()]));
    mustEqual(
      outcomeOf(() => read(randomChunks(input, random))),
      whole,
      "read in chunks",
    );
    if (!("value" in whole) || whole.value.mementos.length === 0) return;
    for (const format of TIMEMAP_FORMATS) writtenAndRead(whole.value, format);
  },
};

interface Reading extends Omit<TimeMapReading, "mementos"> {
  readonly mementos: readonly Memento[];
}

function plain(reading: TimeMapReading): Reading {
  const { mementos } = reading;
  const list = Array.from({ length: mementos.count }, (_, i) => ({
    uri: mementos.uriAt(i),
    datetime: mementos.datetimeAt(i),
  }));
  // Where the first fault is cut depends on how much had come.
  const firstFault = reading.firstFault === undefined ? undefined : "…";
  return { ...reading, mementos: list, firstFault };
}

/** The URIs of a link-format TimeMap may have to be escaped, but only once. */
function writtenAndRead({ mementos, original }: Reading, format: TimeMapFormat): void {
  const sorted = mementos.toSorted((a, b) => a.datetime - b.datetime);
  const once = written(sorted, original, format);
  mustEqual(once.map(datetimeOf), sorted.map(datetimeOf), `datetimes of a ${format} TimeMap`);
  mustEqual(written(once, original, format), once, `mementos of a ${format} TimeMap`);
}

function written(
  mementos: readonly Memento[],
  original: string = "http://a.com/",
  format: TimeMapFormat,
): readonly Memento[] {
  const document = { original, service: SERVICE, mementos: MementoList.of(mementos) };
  const reader = timeMapReader({ contentType: TIMEMAP_TYPES[format] });
  for (const block of writeTimeMap(document, format)) reader.write(block);
  const again = plain(reader.end());
  if (again.faults > 0) throw new Violation(`a ${format} TimeMap has faults: ${again.firstFault}`);
  return again.mementos;
}

function datetimeOf({ datetime }: Memento): number {
  return datetime;
}
