import { describe, expect, it } from "vitest";
import { chunksOf } from "../../../src/aggregate/service/answer-stream.ts";
import { MementoList } from "../../../src/memento/memento-list.ts";
import { aggregating, localArchive, plainArchive } from "../../support/aggregating.ts";

const URI = "http://example.org/a?b=c";

interface Event {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

async function eventsOf(url: string): Promise<Event[]> {
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const text = await response.text();
  return Array.from(
    text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g),
    ([, event = "", data = ""]) => ({
      event,
      data: JSON.parse(data) as Record<string, unknown>,
    }),
  );
}

describe("the stream of mementos", () => {
  it("tells what is decided, what each archive answers, and the end", async () => {
    const ill = await localArchive(
      "ill",
      (_request, response) => void response.writeHead(500).end(),
    );
    const fine = await plainArchive("fine", ["20150101000000", "20160101000000"]);
    const { url } = await aggregating([fine, await plainArchive("none", []), ill]);
    const events = await eventsOf(`${url}/stream/${URI}`);
    expect(events[0]).toMatchObject({
      event: "decided",
      data: { original: URI, archives: [{ id: "fine", asked: true, reason: "no-map" }, {}, {}] },
    });
    expect(events.at(-1)).toEqual({ event: "done", data: { mementos: 2, isWhole: false } });
    expect(events.filter(({ event }) => event === "mementos")).toEqual([
      {
        event: "mementos",
        data: {
          archive: "fine",
          patterns: [`${fine.url}/web/{}/${URI}`],
          rows: [20150101000000, 0, 20160101000000, 0],
        },
      },
    ]);
    const outcomes = events.filter(({ event }) => event === "archive").map(({ data }) => data);
    expect(outcomes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ archive: "fine", result: "hit", mementos: 2, detail: null }),
        expect.objectContaining({ archive: "none", result: "miss" }),
        expect.objectContaining({ archive: "ill", result: "error", detail: "status 500" }),
      ]),
    );
  });

  it("writes URIs that have no datetime, or braces, so that they come out as they were", () => {
    const list = MementoList.of([
      { uri: "https://perma.example/ABC", datetime: 20150101000000 },
      { uri: "https://a.example/20150102000000/x?{}", datetime: 20150102000000 },
      { uri: "https://a.example/20150102000000/x?{}", datetime: 20150102000000 },
    ]);
    const [{ patterns, rows } = { patterns: [], rows: [] }] = [...chunksOf(list)];
    expect(patterns).toEqual(["https://perma.example/ABC", "https://a.example/{}/x?%7B%7D"]);
    expect(rows).toEqual([20150101000000, 0, 20150102000000, 1]);
  });
});

describe("a TimeMap that a browser asks for", () => {
  const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  it("is a page with a list, without script too", async () => {
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"])]);
    const response = await fetch(`${url}/timemap/link/${URI}`, { headers: browser });
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("vary")).toContain("Accept");
    const page = await response.text();
    expect(page).toMatch(
      /<li>\s*<a href="http:[^"]+" rel="nofollow">2015-01-01 00:00:00<\/a> Archive fine/,
    );
    expect(page).toContain('aria-current="page">Time</a>');
  });

  it("says so where there is none", async () => {
    const { url } = await aggregating([await plainArchive("none", [])]);
    const response = await fetch(`${url}/timemap/link/${URI}`, { headers: browser });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("No memento");
  });

  it.each(["*/*", "application/link-format, text/html;q=0.5"])("is none for %s", async (accept) => {
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"])]);
    const headers = { Accept: accept };
    const response = await fetch(`${url}/timemap/link/${URI}`, { headers });
    expect(response.headers.get("content-type")).toBe("application/link-format");
    expect(response.headers.get("vary")).not.toContain("Accept");
  });

  it("is found from a form, where archives are told by their maps", async () => {
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"])]);
    const asked = `?url=${encodeURIComponent(URI)}`;
    const find = await (await fetch(`${url}/${asked}`, { headers: browser })).text();
    expect(find).toContain("Not known");
    expect(find).toContain(`href="/timemap/link/${URI}"`);
    const time = await (await fetch(`${url}/time${asked}`)).text();
    expect(time).toContain(`content="0; url=/timemap/link/${URI}"`);
  });
});
