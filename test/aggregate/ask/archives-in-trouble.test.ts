import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { aggregating, localArchive, plainArchive } from "../../support/aggregating.ts";
import { linkTimeMap } from "../../support/scripted-upstream.ts";

const GOOD = "http://example.org/good";

/** An archive with a TimeMap of every URI but those that end as `odd` says, for which it answers otherwise. */
function oddArchive(
  odd: Readonly<Record<string, { status: number; headers?: object; body?: string }>>,
) {
  return localArchive("odd", (request, response) => {
    const original = (request.url ?? "").replace(/^\/timemap\/link\//, "");
    const [, end = ""] = /(\w+?)\d*$/.exec(original) ?? [];
    const { status, headers, body } = odd[end] ?? { status: 200 };
    response.writeHead(status, { ...headers });
    response.end(
      body ?? (status === 200 ? linkTimeMap(original, "http://o/", ["20150101000000"]) : ""),
    );
  });
}

async function countAndMissing(url: string, uri: string): Promise<(string | null)[]> {
  const { headers } = await fetch(`${url}/timemap/link/${uri}`);
  return [headers.get("x-memento-count"), headers.get("x-mementomap-missing")];
}

describe("URIs that an archive fails for", () => {
  it.each([500, 502, 503, 504])(
    "do not silence it for others, however many of them there are: status %i",
    async (status) => {
      const archive = await oddArchive({ bad: { status } });
      const { url } = await aggregating([archive]);
      await countAndMissing(url, `${GOOD}0`);
      for (let i = 0; i < 12; i++) {
        const asked = await countAndMissing(url, `http://example.org/bad${i}`);
        expect(asked).toEqual([null, `odd;status-${status}`]);
        expect(await countAndMissing(url, `${GOOD}${i}`)).toEqual(["1", null]);
      }
      for (let i = 12; i < 24; i++) await countAndMissing(url, `http://example.org/bad${i}`);
      expect(await countAndMissing(url, `${GOOD}99`)).toEqual(["1", null]);
    },
  );

  it("do not silence it by Retry-After, nor are asked for again", async () => {
    const archive = await oddArchive({ busy: { status: 503, headers: { "Retry-After": "600" } } });
    const { url } = await aggregating([archive]);
    await countAndMissing(url, "http://example.org/busy");
    expect(archive.requests).toHaveLength(1);
    expect(await countAndMissing(url, GOOD)).toEqual(["1", null]);
  });

  it("do not silence it where it is another host that fails, to which it redirects", async () => {
    const headers = { Location: "http://no-such-host.invalid/" };
    const archive = await oddArchive({ away: { status: 302, headers } });
    const { url, open } = await aggregating([archive], {
      aggregator: {
        upstream: {
          lookup: (_host, _options, done) =>
            done(Object.assign(new Error("no name"), { code: "ENOTFOUND" }), ""),
        },
      },
    });
    for (let i = 0; i < 6; i++) {
      const asked = await countAndMissing(url, `http://example.org/away${i}`);
      expect(asked).toEqual([null, "odd;dns"]);
    }
    expect(open.upstream.stateOf(archive.archive).consecutiveFailures).toBe(0);
  });
});

describe("an archive that answers 429", () => {
  it.each([
    ["1", 60_000],
    ["36000", 900_000],
  ])("is asked once, and then not for 1 to 15 minutes: Retry-After: %s", async (asked, pauseMs) => {
    const archive = await oddArchive({ much: { status: 429, headers: { "Retry-After": asked } } });
    let ahead = 0;
    const { url, open } = await aggregating([archive], {
      aggregator: { upstream: { now: () => ahead } },
    });
    await countAndMissing(url, "http://example.org/much");
    expect(archive.requests).toHaveLength(1);
    ahead = pauseMs - 1000;
    expect(await countAndMissing(url, GOOD)).toEqual([null, "odd;dormant"]);
    ahead = pauseMs + 1000;
    expect(await countAndMissing(url, GOOD)).toEqual(["1", null]);
    expect(open.upstream.stateOf(archive.archive).health).toBe("awake");
  });
});

describe("an archive that answers with HTML", () => {
  const html = {
    status: 200,
    headers: { "Content-Type": "text/html" },
    body: "<h1>Not found</h1>",
  };

  it("has nothing of a URI, if it has TimeMaps of others", async () => {
    const archive = await oddArchive({ none: html });
    const { url } = await aggregating([archive]);
    expect(await countAndMissing(url, GOOD)).toEqual(["1", null]);
    const { status, headers } = await fetch(`${url}/timemap/link/http://example.org/none`);
    expect([status, headers.get("cache-control")]).toEqual([404, "public, max-age=600"]);
  });

  it("has failed, if it answers so to everything, and is left out after a while", async () => {
    const archive = await oddArchive({ good: html });
    const { url, open } = await aggregating([archive]);
    for (let i = 0; i < 5; i++) {
      expect(await countAndMissing(url, `${GOOD}${i}`)).toEqual([null, "odd;bad-timemap"]);
    }
    expect(open.upstream.stateOf(archive.archive)).toMatchObject({
      health: "dormant",
      consecutiveFailures: 5,
    });
  });
});

describe("a TimeGate that has a memento at any time", () => {
  it.each([
    ["and a TimeMap that has none", [], [404, null]],
    [
      "and a TimeMap that has others",
      ["20050101000000"],
      [302, "http://m/20050101000000/http://e/"],
    ],
  ])("%s: the TimeMap is believed", async (_what, datetimes, expected) => {
    const archive = await localArchive("any", (request, response) => {
      if (request.url?.startsWith("/timegate/") === true) {
        const date = String(request.headers["accept-datetime"]);
        const location = `/web/20150213094521/http://e/`;
        response.writeHead(307, { Location: location, "Memento-Datetime": date }).end();
      } else if (datetimes.length === 0) {
        response.writeHead(404).end();
      } else {
        response.end(linkTimeMap("http://e/", "http://m/", datetimes));
      }
    });
    const { url } = await aggregating([archive]);
    const { status, headers } = await fetch(`${url}/timegate/http://e/`, {
      redirect: "manual",
      headers: { "Accept-Datetime": "Fri, 13 Feb 2015 09:45:21 GMT" },
    });
    expect([status, headers.get("location")]).toEqual(expected);
  });
});

describe("a TimeGate of ours", () => {
  const gate = async (url: string): Promise<number> =>
    (await fetch(`${url}/timegate/${GOOD}`, { redirect: "manual" })).status;

  it("that is asked for now is answered from the cache a second later", async () => {
    const archive = await plainArchive("one", ["20050101000000"]);
    let now = Date.now();
    const { url } = await aggregating([archive], { service: { now: () => now } });
    expect(await gate(url)).toBe(302);
    now += 2000;
    expect(await gate(url)).toBe(302);
    expect(archive.requests).toHaveLength(1);
  });

  it("does not ask where the TimeMap is known", async () => {
    const archive = await plainArchive("one", ["20050101000000"]);
    const { url } = await aggregating([archive]);
    expect(await countAndMissing(url, GOOD)).toEqual(["1", null]);
    expect(await gate(url)).toBe(302);
    expect(archive.requests).toHaveLength(1);
  });
});

describe("an archive that is slow", () => {
  it("loses nothing, however many ask at once from the first second", async () => {
    const held: ServerResponse[] = [];
    const slow = await localArchive("slow", (_request, response) => {
      held.push(response);
      if (held.length < 4) return;
      for (const each of held.splice(0))
        each.end(linkTimeMap("http://example.org/", "http://s/", ["20140101000000"]));
    });
    const good = await plainArchive("good", ["20150101000000"]);
    const few = { ...slow, archive: { ...slow.archive, concurrency: 4 } };
    const { url } = await aggregating([few, good]);
    const ask = async (page: number): Promise<string> => {
      const answer = await fetch(`${url}/timemap/link/http://example.org/${page}`);
      await answer.text();
      return `${answer.headers.get("x-memento-count")} ${answer.headers.get("x-mementomap-missing")}`;
    };
    const answers = await Promise.all(Array.from({ length: 40 }, (_, page) => ask(page)));
    expect(new Set(answers)).toEqual(new Set(["2 null"]));
  });

  it("is named in an answer that does not wait for it, and has its part in the next", async () => {
    const held: ServerResponse[] = [];
    const slow = await localArchive("slow", (_request, response) => void held.push(response));
    const good = await plainArchive("good", ["20150101000000"]);
    const { url } = await aggregating([slow, good]);
    const ask = async (wait: number): Promise<(string | null)[]> => {
      const { headers } = await fetch(`${url}/timemap/link/http://example.org/`, {
        headers: { Prefer: `wait=${wait}` },
      });
      return ["x-memento-count", "x-mementomap-missing", "preference-applied"].map((name) =>
        headers.get(name),
      );
    };
    expect(await ask(1)).toEqual(["1", "slow;pending", "wait=1"]);
    held[0]?.end(linkTimeMap("http://example.org/", "http://s/", ["20140101000000"]));
    expect(await ask(60)).toEqual(["2", null, "wait=60"]);
    expect(slow.requests).toHaveLength(1);
  });

  it("that nobody has an answer of yet is 504, with when to ask again", async () => {
    const slow = await localArchive("slow", () => undefined);
    const { url } = await aggregating([slow], {
      aggregator: { aggregator: { deadlineMs: 10 } },
      listen: { limits: { graceMs: 10 } },
    });
    const answer = await fetch(`${url}/timemap/link/http://example.org/`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([504, "2"]);
    expect(await answer.json()).toMatchObject({
      missing: [{ archive: "slow", reason: "pending" }],
    });
  });

  it("has a TimeGate whose headers may be long", async () => {
    const memento = '<http://a/web/20140101000000/http://x/>; rel="memento"';
    const link = Array.from(
      { length: 1500 },
      (_, i) => `${memento}; datetime="Wed, 01 Jan 2014 ${clock(i)} GMT"`,
    ).join(", ");
    const long = await localArchive("long", (_request, response) => {
      response.writeHead(302, { Link: link, Location: "/web/20140101000000/x" }).end();
    });
    const { open } = await aggregating([long]);
    const request = { uri: "http://example.org/", datetime: 20140601000000 };
    const { outcomes } = await open.aggregator.timeGate(request);
    expect(link.length).toBeGreaterThan(100_000);
    expect(outcomes).toMatchObject([{ result: "hit", mementos: 1500 }]);
  });
});

function clock(second: number): string {
  return new Date(second * 1000).toISOString().slice(11, 19);
}
