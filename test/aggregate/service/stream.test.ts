import { describe, expect, it } from "vitest";
import { chunksOf, Monitor } from "../../../src/aggregate/service/stream.ts";
import type { Reply } from "../../../src/http/reply.ts";
import { MementoList } from "../../../src/memento/memento-list.ts";
import { aggregating, localArchive, plainArchive } from "../../support/aggregating.ts";
import { outcome, session } from "../../support/sessions.ts";

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

describe("a browser", () => {
  const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  it("gets the format that the path names, whatever it accepts", async () => {
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"])]);
    for (const headers of [browser, { Accept: "text/html;q=0.1, */*" }, {}]) {
      const response = await fetch(`${url}/timemap/link/${URI}`, { headers });
      expect(response.headers.get("content-type")).toBe("application/link-format");
      expect(response.headers.get("vary")).not.toMatch(/\baccept\b(?!-)/i);
    }
  });

  it("finds by a form what maps say, without script, and the TimeMap", async () => {
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"])]);
    for (const path of ["/", "/find", "/time"]) {
      const page = await fetch(`${url}${path}?url=%20${encodeURIComponent(URI)},`, {
        headers: browser,
      });
      const text = await page.text();
      expect(text).toContain("Not known");
      expect(text).toContain(`href="/timemap/link/${URI}"`);
      expect(text).toContain('aria-current="page">Search</a>');
    }
  });

  it("is told that words are no address, and no archive is asked", async () => {
    const fine = await plainArchive("fine", ["20150101000000"]);
    const { url } = await aggregating([fine]);
    for (const typed of ["the web", "javascript:alert(1)", "http://", "mailto:a@b"]) {
      const page = await fetch(`${url}/?url=${encodeURIComponent(typed)}`, { headers: browser });
      expect(await page.text()).toContain("Not a valid address.");
    }
    expect(fine.requests).toEqual([]);
  });
});

/** A listener that reads one event after the other. */
function reader({ body }: Reply): AsyncIterator<Uint8Array> {
  return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
}

async function next(events: AsyncIterator<Uint8Array>): Promise<string | undefined> {
  const { done, value } = await events.next();
  return done === true ? undefined : Buffer.from(value).toString();
}

describe("Monitor", () => {
  it("tells all who listen, until they go", async () => {
    const monitor = new Monitor();
    const listeners = [reader(monitor.listen()), reader(monitor.listen())];
    for (const each of listeners) expect(await next(each)).toMatch(/^: events/);
    monitor.answered(session(), outcome({ result: "hit" }));
    for (const each of listeners) {
      expect(await next(each)).toMatch(/^data: \{"session": "\d+", "origin": "a",/);
    }
    await listeners[0]?.return?.();
    await expect.poll(() => monitor.listeners).toBe(1);
    monitor.close();
    const rest = listeners[1];
    while (rest !== undefined && (await next(rest)) !== undefined);
    expect(monitor.listeners).toBe(0);
  });

  it("drops listeners that do not keep up, and limits their number", async () => {
    const monitor = new Monitor(1);
    const slow = monitor.listen();
    expect(slow.status).toBe(200);
    expect(monitor.listen().status).toBe(503);
    for (let i = 0; i < 20_000 && monitor.listeners > 0; i++) {
      monitor.answered(session(), outcome({ result: "hit" }));
    }
    expect(monitor.listeners).toBe(0);
    await expect(next(reader(slow))).rejects.toThrow(/does not keep up/);
  });

  it("forgets a listener whose response was never begun", async () => {
    const monitor = new Monitor(1);
    await monitor.listen().release?.();
    await expect.poll(() => monitor.listeners).toBe(0);
  });
});
