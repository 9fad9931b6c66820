import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readExposition } from "../../support/exposition.ts";
import {
  type Aggregating,
  aggregating,
  type LocalArchive,
  localArchive,
  plainArchive,
} from "../../support/aggregating.ts";
import { rawGet } from "../../support/raw-http.ts";
import { scratchDir } from "../../support/scratch.ts";
import { serving } from "../../support/serving.ts";

const URI = "http://example.org/a";

/** An aggregator of three archives; one of them has nothing. */
async function three(
  options?: Parameters<typeof aggregating>[1],
): Promise<Aggregating & { readonly archives: readonly LocalArchive[] }> {
  const archives = [
    await plainArchive("one", ["20050101000000", "20100101000000"]),
    await plainArchive("two", ["20080101000000"]),
    await plainArchive("none", []),
  ];
  return { ...(await aggregating(archives, options)), archives };
}

/** The address of an aggregator whose archive has nothing. */
async function nothing(): Promise<string> {
  return (await aggregating([await plainArchive("none", [])])).url;
}

const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { redirect: "manual", headers });

const textOf = async (url: string): Promise<string> => (await get(url)).text();
const jsonOf = async (url: string): Promise<unknown> => (await get(url)).json();

/** How many mementos a TimeMap has. */
async function countOf(url: string, headers?: Record<string, string>): Promise<string | null> {
  return (await get(`${url}/timemap/link/${URI}`, headers)).headers.get("x-memento-count");
}

function askedOf(archives: readonly LocalArchive[]): number[] {
  return archives.map(({ requests }) => requests.length);
}

describe("TimeMaps", () => {
  it.each([
    ["link", "application/link-format"],
    ["json", "application/json"],
    ["cdxj", "application/cdxj+ors"],
  ])("come as %s", async (format, type) => {
    const { url } = await three();
    const answer = await get(`${url}/timemap/${format}/${URI}`);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": type,
      "x-memento-count": "3",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": expect.stringContaining(
        "Link, Location, X-Memento-Count, Server",
      ),
      server: expect.stringMatching(/^mementomap\/\d/),
      "cache-control": "public, max-age=600",
      vary: "prefer, x-memgator-archive-filter, x-mementomap-route",
    });
    const text = await answer.text();
    const ends = format === "json" ? ["2005", "2010"] : [];
    expect(text.match(/(?<=\/web\/)\d{4}/g)).toEqual(["2005", "2008", "2010", ...ends]);
    expect(text).toContain(`${url}/timegate/${URI}`);
  });

  it("are 404 with a count of 0 when nobody has any", async () => {
    const answer = await get(`${await nothing()}/timemap/link/${URI}`);
    expect([answer.status, answer.headers.get("x-memento-count")]).toEqual([404, "0"]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(await answer.json()).toMatchObject({ status: 404, title: "Not found" });
  });

  it("ask archives for the original as it was sent", async () => {
    const { url, archives } = await three();
    const odd = "http://example.org//a/../%2F%zz?x=1&y=/b//c,d;e='f\"";
    expect(await rawGet(url, `/timemap/link/${odd}`)).toMatch(/^HTTP\/1.1 200 OK/);
    // Archives must not know users of other servers, nor passwords.
    await rawGet(url, "/timemap/link/http://me:secret@example.org/#top");
    const sent = [odd.replace('"', "%22"), "http://example.org/"];
    expect(archives[0].requests.map(({ target }) => target)).toEqual(
      sent.map((uri) => `/timemap/link/${uri}`),
    );
  });

  it("are counted and not written for HEAD", async () => {
    const { url } = await three();
    const answer = await fetch(`${url}/timemap/json/${URI}`, { method: "HEAD" });
    expect([answer.status, answer.headers.get("x-memento-count")]).toEqual([200, "3"]);
    expect(await answer.text()).toBe("");
  });

  it("come in pages when they are long, and pages lead to each other", async () => {
    const times = Array.from({ length: 24 }, (_, i) => `20100101${String(i).padStart(2, "0")}0000`);
    const service = { pageSize: 10 };
    const { url } = await aggregating([await plainArchive("one", times)], { service });
    const first = await textOf(`${url}/timemap/link/${URI}`);
    const links = first.matchAll(/<([^>]*\/timemap\/link\/\d\/[^>]*)>; rel="timemap"/g);
    const others = Array.from(links, ([, page]) => page ?? "");
    expect(others).toEqual([2, 3].map((page) => `${url}/timemap/link/${page}/${URI}`));
    const pages = [first, ...(await Promise.all(others.map(textOf)))];
    expect(pages.flatMap((page) => page.match(/(?<=\/web\/)\d{14}/g))).toEqual(times);
    expect(await textOf(`${url}/timemap/link/1/${URI}`)).toBe(first);
    const beyond = await jsonOf(`${url}/timemap/link/4/${URI}`);
    expect(beyond).toMatchObject({ status: 404, detail: "the TimeMap has 3 pages" });
  });

  it("come whole, a block at a time", async () => {
    const many = Array.from({ length: 20_000 }, (_, i) =>
      new Date(Date.UTC(1996, 0, 1) + i * 1000).toISOString().replaceAll(/\D/g, "").slice(0, 14),
    );
    const { url } = await aggregating([await plainArchive("one", many)]);
    const text = await textOf(`${url}/timemap/link/${URI}`);
    expect(text.match(/rel="[a-z ]*memento"/g)).toHaveLength(many.length);
  });
});

describe("TimeGates and mementos", () => {
  it("lead to the closest memento, with links to those around it", async () => {
    const { url, archives } = await three();
    const datetime = "Tue, 01 Jan 2008 12:00:00 GMT";
    const answer = await get(`${url}/timegate/${URI}`, { "Accept-Datetime": datetime });
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toBe(`${archives[1].url}/web/20080101000000/${URI}`);
    expect(answer.headers.get("vary")).toMatch(/^accept-datetime, prefer,/);
    expect(answer.headers.get("link")).toMatch(
      /rel="original".*rel="first prev memento".*rel="memento".*rel="last next memento".*rel="timemap"/,
    );
    expect(archives[0].requests[0]?.headers["accept-datetime"]).toBe(datetime);
  });

  it("take now where no time is asked for", async () => {
    const { url } = await three({ service: { now: () => Date.UTC(2026, 10, 15, 12) } });
    const answer = await get(`${url}/timegate/${URI}`);
    expect(answer.headers.get("location")).toMatch(/20100101000000/);
  });

  it.each(["memento", "api"])("/%s leads to the closest one, or describes it", async (name) => {
    const { url } = await three();
    const redirect = await get(`${url}/${name}/2005/${URI}`);
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get("location")).toMatch(/20050101000000/);
    const described = await get(`${url}/${name}/json/2008/${URI}`);
    expect(described.headers.get("content-type")).toBe("application/json");
    expect(await described.json()).toMatchObject({
      original_uri: URI,
      mementos: {
        first: { datetime: "2005-01-01T00:00:00Z" },
        closest: { datetime: "2008-01-01T00:00:00Z" },
        last: { datetime: "2010-01-01T00:00:00Z" },
      },
    });
  });

  it("are passed on as they were captured, without cookies", async () => {
    const { url } = await three();
    const answer = await get(`${url}/memento/proxy/2008/${URI}`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(`captured: /web/20080101000000id_/${URI}`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/plain",
      "memento-datetime": "Tue, 01 Jan 2008 00:00:00 GMT",
      "content-security-policy": expect.stringContaining("sandbox"),
    });
    expect([answer.headers.get("set-cookie"), answer.headers.get("x-odd")]).toEqual([null, null]);
  });

  it("are 404 when nobody has any", async () => {
    const url = await nothing();
    for (const path of ["timegate", "memento/2005", "memento/link/2005", "memento/proxy/2005"]) {
      const answer = await get(`${url}/${path}/${URI}`);
      const count = answer.headers.get("x-memento-count");
      expect([path, answer.status, count]).toEqual([path, 404, null]);
    }
  });
});

describe("requests that cannot be answered", () => {
  it.each([
    ["/timemap/xml/http://a/", 400],
    ["/memento/20150230/http://a/", 400],
    [`/timegate/http://a/${"x".repeat(8200)}`, 400],
    ["/timemap/link/http://a/%00\u0001", 400],
    ["/nothing", 404],
    ["/timemapx/link/a", 404],
    ["/timemap", 400],
    ["/timemap/link/", 400],
    ["/memento/xml/2015/http://a/", 400],
    ["/memento/20151/http://a/", 400],
    ["/timegate/mailto:a@b", 400],
    ["/timegate/http://a/%0a", 400],
    ["/about/x", 404],
    ["/metrics/", 404],
  ])("%s is %d", async (target, status) => {
    const answer = await rawGet(await nothing(), target);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  });

  it.each([
    ["timegate", { "Accept-Datetime": "tomorrow" }, '"tomorrow"'],
    ["timemap/link", { Prefer: "top-k=x" }, "top-k"],
    ["timemap/link", { Prefer: 'archives="nobody"' }, 'no archive "nobody"; /archives.json lists'],
  ])("tell what is wrong with /%s and %j", async (path, headers, detail) => {
    const answer = await get(`${await nothing()}/${path}/${URI}`, headers);
    expect(await answer.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining(detail),
    });
  });

  it("tell which methods and headers there are", async () => {
    const timemap = `${await nothing()}/timemap/link/${URI}`;
    const posted = await fetch(timemap, { method: "POST", body: "x" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    const asked = await fetch(timemap, { method: "OPTIONS" });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-headers")).toContain("Accept-Datetime");
  });

  it("are turned away when there are too many", async () => {
    const hangs = await localArchive("hangs", () => undefined);
    const { url, service } = await aggregating([hangs], {
      service: { maxLookups: 1 },
      listen: { limits: { graceMs: 10 } },
    });
    const gone = new AbortController();
    const first = fetch(`${url}/timemap/link/${URI}1`, { signal: gone.signal }).catch(
      () => undefined,
    );
    await expect.poll(() => hangs.requests.length).toBe(1);
    const second = await get(`${url}/timemap/link/${URI}2`);
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await service.metrics.text()).toContain("\nmementomap_lookups_in_progress 1\n");
    gone.abort();
    await first;
  });
});

describe("preferences of clients", () => {
  it("is which archives are asked", async () => {
    const { url, archives } = await three();
    const Prefer = 'archives="two none"';
    const { headers } = await get(`${url}/timemap/link/${URI}`, { Prefer });
    expect(headers.get("x-memento-count")).toBe("1");
    expect(headers.get("preference-applied")).toBe(Prefer);
    expect(askedOf(archives)).toEqual([0, 1, 1]);
    await get(`${url}/timemap/link/${URI}b`, { "X-MemGator-Archive-Filter": "!two" });
    expect(askedOf(archives)).toEqual([1, 1, 2]);
  });

  it("is a time, or to be told why archives were asked", async () => {
    const { url } = await three();
    expect(await countOf(url, { Prefer: "from=2008, until=2009" })).toBe("1");
    const answer = await get(`${url}/timemap/link/${URI}`, { "X-MementoMap-Route": "1" });
    expect(answer.headers.get("x-mementomap-route")?.split(", ")).toEqual(
      expect.arrayContaining(["one=no-map;hit;2", "two=no-map;hit;1", "none=no-map;miss;0"]),
    );
  });

  it("make archives be asked again, once a minute, or not at all", async () => {
    const { url, archives } = await three();
    await countOf(url);
    await countOf(url);
    expect(archives[0].requests).toHaveLength(1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    for (let i = 0; i < 3; i++) await countOf(url, { "Cache-Control": "no-cache" });
    expect(archives[0].requests).toHaveLength(2);
    const cached = { "Cache-Control": "only-if-cached" };
    expect((await get(`${url}/timemap/link/${URI}`, cached)).status).toBe(200);
    expect((await get(`${url}/timemap/link/${URI}/new`, cached)).status).toBe(504);
    expect(archives[0].requests).toHaveLength(2);
  });

  it("is that maps are not gone by", async () => {
    const mementomap = join(scratchDir(), "one.ukvs");
    writeFileSync(mementomap, "com,other)/ 3\n");
    const one = await plainArchive("one", ["20050101000000"]);
    const mapped = { ...one, archive: { ...one.archive, mementomap } };
    const { url } = await aggregating([mapped, await plainArchive("two", ["20080101000000"])]);
    const routed = await get(`${url}/timemap/link/${URI}`, { Prefer: "route-reasons" });
    expect(routed.headers.get("x-mementomap-route")).toContain("one=not-in-map");
    expect(routed.headers.get("x-memento-count")).toBe("1");
    expect(await countOf(url, { Prefer: "routing=off" })).toBe("2");
  });
});

describe("what is told about the service", () => {
  it("is a page, JSON or text", async () => {
    const { url } = await three();
    await countOf(url);
    for (const path of ["/", "/about"]) {
      const page = await get(`${url}${path}`, { Accept: "text/html,*/*" });
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await page.text()).toContain("Archive one");
    }
    const text = await textOf(`${url}/about`);
    expect(text).toMatch(/## API Endpoints[^]*## Upstream Archives\n\n1\. \[Archive one\]/);
    const json = await get(`${url}/about`, { Accept: "application/json" });
    expect(await json.json()).toMatchObject({
      routing: { isOn: true, sessions: 1, asked: 3, spared: 0 },
      archives: [{ id: "one", health: "awake", hits: 1 }, { id: "two" }, { id: "none", misses: 1 }],
    });
  });

  it("has what learning promises, keeps and spares", async () => {
    const { url } = await three({
      aggregator: { learn: { recall: 0.98, memoryBytes: 2 ** 20 } },
    });
    for (let i = 0; i < 110; i++) await get(`${url}/timemap/link/${URI}${i}`);
    const about: unknown = JSON.parse(await textOf(`${url}/about.json`));
    expect(about).toMatchObject({
      learning: { promised: 0.98, lookups: 110, hits: { value: 1 }, spared: [{ lookups: 100 }] },
    });
  });

  it.each([true, false])("names metrics only where they are: %s", async (servesMetrics) => {
    const { url } = await three({ service: { servesMetrics } });
    expect((await get(`${url}/metrics`)).status).toBe(servesMetrics ? 200 : 404);
    for (const path of ["/about", "/openapi.json"]) {
      expect((await textOf(url + path)).includes("/metrics")).toBe(servesMetrics);
    }
  });

  it("is why archives would be asked, without asking any", async () => {
    const { url, archives } = await three();
    const answer = await get(`${url}/route/${URI}`, { Prefer: 'archives="one"' });
    expect(await answer.json()).toMatchObject({
      original_uri: URI,
      surt: "org,example)/a",
      asked: 1,
      archives: [
        { id: "one", asked: true, reason: "no-map" },
        { asked: false, reason: "not-selected" },
        { asked: false, reason: "not-selected" },
      ],
    });
    expect(askedOf(archives)).toEqual([0, 0, 0]);
  });

  it("is how many mementos there are, by archive and year", async () => {
    const { url } = await three();
    const answer = await get(`${url}/summary/${URI}`);
    expect(answer.headers.get("x-memento-count")).toBe("3");
    expect(await answer.json()).toMatchObject({
      mementos: { count: 3, years: { "2005": 1, "2008": 1, "2010": 1 } },
      archives: [
        { id: "one", count: 2 },
        { id: "two", count: 1 },
      ],
    });
  });

  it("is for machines too", async () => {
    const { url } = await three();
    await countOf(url);
    const metrics = await textOf(`${url}/metrics`);
    for (const line of [
      'archive_answers_total{archive="one",result="hits"} 1',
      'archive_awake{archive="two"} 1',
      'requests_total{route="timemap",status="200"} 1',
      'upstream_requests_total{archive="two"} 1',
      'upstream_failures_total{archive="two",kind="timeout"} 0',
    ]) {
      expect(metrics).toContain(`\nmementomap_${line}\n`);
    }
    const name = "mementomap_archive_seconds";
    const seconds = readExposition(metrics).get(name);
    expect(seconds?.type).toBe("histogram");
    const count = { name: `${name}_count`, labels: 'archive="one"', value: 1 };
    expect(seconds?.samples).toContainEqual(count);
    expect(await jsonOf(`${url}/health`)).toMatchObject({
      status: "ok",
      archives: { all: 3, awake: 3 },
    });
    const ids = [{ id: "one" }, { id: "two" }, { id: "none" }];
    expect(await jsonOf(`${url}/archives.json`)).toMatchObject(ids);
  });

  it("describes every path, which is then answered", async () => {
    const { url } = await three();
    const { paths } = (await jsonOf(`${url}/openapi.json`)) as { paths: object };
    const values = { "{format}": "link", "{page}": "1", "{datetime}": "2005", "{uri}": URI };
    for (const path of Object.keys(paths)) {
      let target = path;
      for (const [name, value] of Object.entries(values)) target = target.replace(name, value);
      // Nothing is learnt here, and no archive has a map.
      const statuses = ["/explore", "/compare"].includes(path) ? [400, 404] : [200, 302, 501];
      const { status } = await get(url + target);
      expect([path, status]).toEqual([path, expect.toBeOneOf(statuses)]);
    }
  });

  it("is that a map was fetched, and what it spares", async () => {
    const publisher = await serving("com,other)/ 3\n");
    const one = await plainArchive("one", ["20050101000000"]);
    const mementomap = `${publisher.url}/.well-known/mementomap`;
    const mapped = { ...one, archive: { ...one.archive, mementomap } };
    const two = await plainArchive("two", ["20080101000000"]);
    const { url, open } = await aggregating([mapped, two], {
      aggregator: { maps: { folder: scratchDir() } },
    });
    await open.keeper.fetched();
    expect(await countOf(url)).toBe("1");
    expect(one.requests).toEqual([]);
    expect(await jsonOf(`${url}/about.json`)).toMatchObject({
      routing: { asked: 1, spared: 1, saved: 0.5 },
      archives: [{ id: "one", skipped: 1, map: { status: "ready", keys: 1 } }, { id: "two" }],
    });
    const history = (await jsonOf(`${url}/history.json`)) as {
      all: { hours: Record<"asked" | "spared" | "hits" | "recall", (number | null)[]> };
      archives: Record<string, { hours: { spared: number[] } }>;
    };
    const { asked, spared, hits, recall } = history.all.hours;
    expect([asked, spared, hits, recall].map((each) => each.at(-1))).toEqual([1, 1, 1, null]);
    expect(history.archives["one"]?.hours.spared.at(-1)).toBe(1);
    expect(history.archives["two"]?.hours.spared.at(-1)).toBe(0);
  });

  it("lies under a path and another address, if wanted", async () => {
    const { url } = await three({ service: { base: "https://mg.example/mg/" } });
    const text = await textOf(`${url}/mg/timemap/link/${URI}`);
    expect(text).toContain(`<https://mg.example/mg/timegate/${URI}>; rel="timegate"`);
    expect((await get(`${url}/mg`)).status).toBe(200);
  });
});
