import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readLookups } from "../../../src/study/simulate/lookup-stream.ts";
import { folderWith } from "../../support/folder-with.ts";

function read(text: string): ReturnType<typeof readLookups> {
  return readLookups(join(folderWith({ lookups: text }), "lookups"), { stdin: Readable.from([]) });
}

const access = (target: string): string =>
  `192.0.2.1 - - [01/Jan/2020:00:00:00 +0000] "GET ${target} HTTP/1.1" 200 5`;

describe("readLookups", () => {
  it("reads logs and lists", async () => {
    const { uris } = await read(
      [
        access("/timemap/link/http://a.example/x?y=http://b.example/"),
        access("/timegate/https://c.example/"),
        access("/memento/2010/http://d.example/"),
        access("/memento/link/2010/http://e.example/"),
        access("/about"),
        "INFO: 2016/06/09 12:00:00.1 Aggregating Mementos for http://f.example/",
        "2020-01-01T00:00:00Z\tg.example/y",
        "two words",
      ].join("\n"),
    );
    expect(uris).toEqual([
      "http://a.example/x?y=http://b.example/",
      "https://c.example/",
      "http://d.example/",
      "http://e.example/",
      "http://f.example/",
      "g.example/y",
    ]);
  });

  it.each([
    ["schemes", `"GET /memento/${"/://".repeat(100_000)}`],
    ["dots", `${"a.".repeat(200_000)} b`],
  ])("reads hostile lines in linear time: %s", async (_what, line) => {
    const { uris } = await read(`${line}\nhttp://a.example/\n`);
    expect(uris).toEqual(["http://a.example/"]);
  });
});
