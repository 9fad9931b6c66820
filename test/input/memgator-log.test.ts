import { describe, expect, it } from "vitest";
import { generateMap } from "../../src/generate/generate-map.ts";
import { MemgatorLog } from "../../src/input/memgator-log.ts";

const STAMP = "2016/06/09 12:00:00.123456";

function event(session: number, archive: string, role: string, info: string, kind = "BENCHMARK") {
  return `${kind}: ${STAMP} ${session} {"origin": "${archive}", "role": "${role}", "info": "${info} - Duration: 1.2s", "start": 0, "end": 12}`;
}

function outcomes(lines: readonly string[]) {
  const log = new MemgatorLog();
  const list = lines.map((line) => log.read(line)).filter((outcome) => outcome !== undefined);
  return { list, ambiguous: log.ambiguous };
}

const info = (text: string): string => `INFO: ${STAMP} ${text}`;

function rowsOf(map: Uint8Array): string[] {
  const lines = Buffer.from(map).toString().trimEnd().split("\n");
  return lines.filter((line) => !line.startsWith("!"));
}

describe("MemgatorLog", () => {
  it.each(["BENCHMARK", "PROFILE"])("joins sessions and URIs of a log with %s lines", (kind) => {
    const { list, ambiguous } = outcomes([
      info("Initializing MemGator:1.0-rc9..."),
      event(1, "AGGREGATOR", "createsess", "Session created", kind),
      info("Aggregating Mementos for http://a.com/"),
      event(2, "AGGREGATOR", "createsess", "Session created", kind),
      info("Aggregating Mementos for http://b.com/x, y\u2028z"),
      event(2, "ia", "timemapfetch", "TimeMap fethched from Internet Archive", kind),
      event(2, "ia", "extractmementos", "42 Mementos extracted from Internet Archive", kind),
      info("ia => Success: 42 mementos"),
      event(1, "loc", "timemapfetch", "Response error in LoC, Stutus: 404", kind),
      event(1, "pt", "timemapfetch", "Response error in PT, Status: 503", kind),
      event(1, "is", "timemapfetch", "Network error in IS", kind),
      event(1, "ia", "extractmementos", "0 Mementos extracted from Internet Archive", kind),
      event(1, "SESSION", "timemap", "Complete session", kind),
      event(1, "uk", "extractmementos", "1 Mementos extracted from UK", kind),
    ]);
    expect(list).toEqual([
      { archive: "ia", uri: "http://b.com/x, y\u2028z", result: "hit", mementos: 42 },
      { archive: "loc", uri: "http://a.com/", result: "miss", mementos: 0 },
      { archive: "pt", uri: "http://a.com/", result: "error", mementos: 0 },
      { archive: "is", uri: "http://a.com/", result: "error", mementos: 0 },
      { archive: "ia", uri: "http://a.com/", result: "miss", mementos: 0 },
    ]);
    expect(ambiguous).toBe(1);
  });

  it("says nothing where two sessions began at once", () => {
    const { list, ambiguous } = outcomes([
      event(1, "AGGREGATOR", "createsess", "Session created"),
      event(2, "AGGREGATOR", "createsess", "Session created"),
      info("Aggregating Mementos for http://a.com/"),
      info("Aggregating Mementos for http://b.com/"),
      event(1, "ia", "extractmementos", "1 Mementos extracted from IA"),
      event(2, "ia", "extractmementos", "0 Mementos extracted from IA"),
      event(3, "AGGREGATOR", "createsess", "Session created"),
      info("Aggregating Mementos for http://c.com/"),
      event(3, "ia", "extractmementos", "3 Mementos extracted from IA"),
    ]);
    expect(list).toEqual([{ archive: "ia", uri: "http://c.com/", result: "hit", mementos: 3 }]);
    expect(ambiguous).toBe(2);
  });

  it("goes by what an archive owes where there are no timings", () => {
    const { list, ambiguous } = outcomes([
      info("Aggregating Mementos for http://a.com/"),
      info("ia => Success: 2 mementos"),
      info("loc => Response error: 404 Not Found"),
      info("Aggregating Mementos for http://b.com/"),
      info("Aggregating Mementos for http://c.com/"),
      info("ia => Success: 3 mementos"), // of b or of c
      `ERROR: ${STAMP} main.go:292: ia => Network error: timeout`, // of the other
      info("Aggregating Mementos for http://d.com/"),
      info("ia => Response error: 404 Not Found"),
    ]);
    expect(list).toEqual([
      { archive: "ia", uri: "http://a.com/", result: "hit", mementos: 2 },
      { archive: "loc", uri: "http://a.com/", result: "miss", mementos: 0 },
      { archive: "ia", uri: "http://d.com/", result: "miss", mementos: 0 },
    ]);
    expect(ambiguous).toBe(2);
  });
});

describe("a log that lost a line", () => {
  const sessions = (count: number): string[][] =>
    Array.from({ length: count }, (_, i) => [
      event(i, "AGGREGATOR", "createsess", "Session created"),
      info(`Aggregating Mementos for http://a.com/${i}`),
      event(i, "ia", "extractmementos", "2 Mementos extracted from IA"),
      event(i, "SESSION", "timemap", "Complete session"),
    ]);

  it("joins sessions and URIs again after two thousand lines", () => {
    const all = sessions(1000);
    all[10].splice(1, 1);
    const { list } = outcomes(all.flat());
    expect(list.length).toBeGreaterThan(500);
    expect(list.at(-1)).toMatchObject({ uri: "http://a.com/999" });
    for (const { uri } of list.slice(10)) expect(Number(uri.slice(13))).toBeGreaterThan(10);
  });

  it("knows again what an archive answers after a pause, where there are no timings", () => {
    const at = (time: string, text: string): string => `INFO: 2016/06/09 ${time} ${text}`;
    const { list, ambiguous } = outcomes([
      at("12:00:00", "Aggregating Mementos for http://a.com/"), // and then it was killed
      at("12:00:05", "Aggregating Mementos for http://b.com/"),
      at("12:00:06", "ia => Success: 2 mementos"),
      at("12:09:59", "Aggregating Mementos for http://c.com/"),
      at("12:09:59", "ia => Success: 3 mementos"),
      at("12:30:00", "Aggregating Mementos for http://d.com/"),
      at("12:30:01", "ia => Success: 4 mementos"),
      at("12:30:01", "new => Response error: 404 Not Found"),
    ]);
    expect(list).toEqual([
      { archive: "ia", uri: "http://d.com/", result: "hit", mementos: 4 },
      { archive: "new", uri: "http://d.com/", result: "miss", mementos: 0 },
    ]);
    expect(ambiguous).toBe(2);
  });
});

describe("a map of MemGator logs", () => {
  const text = [
    info("Aggregating Mementos for http://a.com/"),
    info("ia => Success: 2 mementos"),
    info("loc => Success: 9 mementos"),
    info("Aggregating Mementos for http://a.com/"),
    info("ia => Success: 5 mementos"),
    info("Aggregating Mementos for http://void.com/x"),
    info("ia => Response error: 404 Not Found"),
    info("Aggregating Mementos for http://void.com/y?z=1"), // says nothing about /y
    info("ia => Response error: 404 Not Found"),
  ].join("\n");
  const mapOf = (archive?: string, log: string = text) => {
    const chunks = (async function* () {
      yield new TextEncoder().encode(log);
    })();
    return generateMap([{ name: "memgator.log", chunks }], { archive });
  };

  it("holds hits as the most that was seen, and misses as voids", async () => {
    const { bytes } = await mapOf("ia");
    expect(rowsOf(bytes)).toEqual(["com,a)/ 5+", "com,void)/x 0"]);
  });

  it.each([
    [undefined, /several archives, including "ia" and "loc"/],
    ["pt", /no archive "pt", only "ia", "loc"/],
  ])("wants to know which archive (%s)", async (archive, message) => {
    await expect(mapOf(archive)).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(message) as string,
    });
  });

  it("counts an archive whose answers cannot be joined to a URI", async () => {
    const lines = [
      event(1, "AGGREGATOR", "createsess", "Session created"),
      event(2, "AGGREGATOR", "createsess", "Session created"),
      info("Aggregating Mementos for http://a.com/"),
      info("Aggregating Mementos for http://b.com/"),
      event(1, "loc", "extractmementos", "7 Mementos extracted from LoC"),
      event(3, "AGGREGATOR", "createsess", "Session created"),
      info("Aggregating Mementos for http://c.com/"),
      event(3, "ia", "extractmementos", "3 Mementos extracted from IA"),
    ];
    await expect(mapOf(undefined, lines.join("\n"))).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/several archives, including "loc" and "ia"/) as string,
    });
    expect(rowsOf((await mapOf("loc", lines.join("\n"))).bytes)).toEqual([]);
    expect(rowsOf((await mapOf("ia", lines.join("\n"))).bytes)).toEqual(["com,c)/ 3+"]);
  });
});
