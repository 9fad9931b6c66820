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
  it("is asked once, and then not for a minute at least, nor for longer than a quarter of an hour", async () => {
    const archive = await oddArchive({ much: { status: 429, headers: { "Retry-After": "1" } } });
    let ahead = 0;
    const { url, open } = await aggregating([archive], {
      aggregator: { upstream: { now: () => ahead } },
    });
    await countAndMissing(url, "http://example.org/much");
    expect(archive.requests).toHaveLength(1);
    ahead = 59_000;
    expect(await countAndMissing(url, GOOD)).toEqual([null, "odd;dormant"]);
    ahead = 61_000;
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
