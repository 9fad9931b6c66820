import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Aggregator, type AggregatorOptions } from "../../src/aggregate/aggregator.ts";
import type { AskOptions } from "../../src/aggregate/ask/ask.ts";
import { memoryCache } from "../../src/aggregate/ask/cache.ts";
import type { Router } from "../../src/aggregate/route/decision.ts";
import { MapRouter } from "../../src/aggregate/route/map-router.ts";
import type { Outcome, SessionObserver } from "../../src/aggregate/session.ts";
import { MementoMapError } from "../../src/errors.ts";
import type { GetRequest } from "../../src/http/client.ts";
import {
  linkTimeMap,
  type Script,
  type ScriptedAnswer,
  scriptedUpstream,
} from "../support/scripted-upstream.ts";
import { archive, decision } from "../support/sessions.ts";

const URI = "http://example.org/a%2Fb//../c?d=1,2";
const DATETIME = 20150213094521;

/** An aggregator that asks archives of these ids, and what it asked them. */
function aggregatorOf(
  ids: readonly string[],
  script: Script,
  options: AggregatorOptions = {},
  asking: AskOptions = {},
): { aggregator: Aggregator; requests: readonly GetRequest[] } {
  const { upstream, requests } = scriptedUpstream(script, asking);
  const router = new MapRouter(
    ids.map((id) => archive(id)),
    { isBroadcasting: true },
  );
  return { aggregator: new Aggregator(router, upstream, options), requests };
}

/** What the archive `id` has, with the datetimes of its mementos. */
function held(id: string, datetimes: readonly string[], more?: string): ScriptedAnswer {
  return { body: linkTimeMap(URI, `http://${id}/`, datetimes, more) };
}

/** `https://a.example/timegate/…` → `a`, `timegate`. */
function asked({ url }: GetRequest): { id: string; endpoint: string } {
  const [, id = "", endpoint = ""] = /^https:\/\/(\w+)\.example\/(\w+)/.exec(url) ?? [];
  return { id, endpoint };
}

function told({ outcomes }: { outcomes: readonly Outcome[] }): string[] {
  return outcomes.map(
    ({ archive: { id }, result, mementos, code }) => `${id} ${result} ${mementos} ${code ?? "-"}`,
  );
}

const never = (): Promise<undefined> => new Promise(() => undefined);

/** An answer that comes when it is released. */
function later(): { answer: Promise<ScriptedAnswer>; release: (answer: ScriptedAnswer) => void } {
  let release = (_answer: ScriptedAnswer): void => undefined;
  const answer = new Promise<ScriptedAnswer>((resolve) => (release = resolve));
  return { answer, release };
}

describe("Aggregator.timeMap", () => {
  it("asks all archives for the URI as it is, and merges what they have in order of time", async () => {
    const has: Record<string, ScriptedAnswer> = {
      a: held("a", ["20150101000000", "20100101000000"]),
      b: held("b", ["20120101000000", "20150101000000"]),
    };
    const { aggregator, requests } = aggregatorOf(["a", "b", "c"], (each) => has[asked(each).id]);
    const aggregation = await aggregator.timeMap({ uri: URI });
    expect(requests.map(({ url }) => url)).toEqual(
      ["a", "b", "c"].map((id) => `https://${id}.example/timemap/link/${URI}`),
    );
    expect([...aggregation.mementos]).toEqual([
      { uri: `http://a/20100101000000/${URI}`, datetime: 20100101000000, archive: 0 },
      { uri: `http://b/20120101000000/${URI}`, datetime: 20120101000000, archive: 1 },
      { uri: `http://a/20150101000000/${URI}`, datetime: 20150101000000, archive: 0 },
      { uri: `http://b/20150101000000/${URI}`, datetime: 20150101000000, archive: 1 },
    ]);
    expect(told(aggregation)).toEqual(["a hit 2 -", "b hit 2 -", "c miss 0 -"]);
    expect(aggregation).toMatchObject({ isWhole: true, original: URI });
    const part = await aggregator.timeMap({
      uri: URI,
      from: 20110101000000,
      until: 20121231235959,
    });
    expect([...part.mementos].map(({ datetime }) => datetime)).toEqual([20120101000000]);
    expect(told(part)).toEqual(["a hit 2 -", "b hit 2 -", "c miss 0 -"]);
  });

  it.each<[string, string, string]>([
    ["garbage", "<html><body>down</body></html>", "bad error 0 MM_BAD_INPUT"],
    ["an empty TimeMap", `<${URI}>; rel="original"`, "bad miss 0 -"],
    ["nothing at all", "", "bad error 0 MM_BAD_INPUT"],
  ])("does without an archive that answers with %s", async (_what, body, expected) => {
    const { aggregator } = aggregatorOf(["bad", "good"], (request) =>
      asked(request).id === "bad" ? { body } : held("g", ["20150101000000"]),
    );
    const aggregation = await aggregator.timeMap({ uri: URI });
    expect(told(aggregation)).toEqual([expected, "good hit 1 -"]);
    expect(aggregation.mementos.count).toBe(1);
  });

  it("reads TimeMaps that are in pages, each page once", async () => {
    const page = (n: number): string => `http://a/timemap/${n}`;
    const link = (n: number): string =>
      `<${n === 3 ? "/timemap/3" : page(n)}>; rel="timemap"; type="application/link-format"; from="Thu, 01 Jan 2015 00:00:00 GMT"`;
    const { aggregator, requests } = aggregatorOf(["a"], ({ url }) => {
      const n = Number(/(\d)$/.exec(url)?.[1] ?? 0);
      if (url.startsWith("https://a.example/timemap/link/")) {
        const links = `${link(1)}, ${link(2)}, ${link(3)}`;
        return { ...held("a", ["20150101000000"], links), url: page(1) };
      }
      return held("a", [`201${5 + n}0101000000`], `${link(1)}, ${link(2)}`);
    });
    expect(told(await aggregator.timeMap({ uri: URI }))).toEqual(["a hit 3 -"]);
    expect(requests.map(({ url }) => url).slice(1)).toEqual([page(2), page(3)]);
  });

  it("keeps the pages it has when a later one cannot be had or there are too many, and says so", async () => {
    const next = (n: number): string =>
      `<http://a/${n}>; rel="next"; type="application/link-format"`;
    const { aggregator } = aggregatorOf(["a"], ({ url }) =>
      url === "http://a/2" ? { status: 500 } : held("a", ["20150101000000"], next(2)),
    );
    const aggregation = await aggregator.timeMap({ uri: URI });
    expect(told(aggregation)).toEqual(["a hit 1 MM_HTTP"]);
    expect(aggregation.isWhole).toBe(false);
    let pages = 0;
    const endless = (): ScriptedAnswer => {
      pages += 1;
      return held(`a/${pages}`, ["20150101000000"], next(pages));
    };
    const many = aggregatorOf(["a"], endless, {}, { limits: { maxPages: 5 } });
    expect(told(await many.aggregator.timeMap({ uri: URI }))).toEqual(["a hit 5 MM_LIMIT"]);
  });

  it("waits until the deadline or as long as the request wants; what comes later is in the next answer", async () => {
    const { answer, release } = later();
    const answered: string[] = [];
    const observer: SessionObserver = {
      answered: (_session, { archive: { id }, result }) => answered.push(`${id} ${result}`),
    };
    const { aggregator, requests } = aggregatorOf(
      ["slow", "quick"],
      (request) => (asked(request).id === "slow" ? answer : held("q", ["20150101000000"])),
      { observers: [observer], deadlineMs: 30 },
      { cache: memoryCache(1e6) },
    );
    const first = await aggregator.timeMap({ uri: URI });
    expect(told(first)).toEqual(["slow pending 0 -", "quick hit 1 -"]);
    expect([first.isWhole, answered]).toEqual([false, ["quick hit"]]);
    const second = await aggregator.timeMap({ uri: URI, waitMs: 0 });
    expect(told(second)).toEqual(["slow pending 0 -", "quick hit 1 -"]);
    release(held("s", ["20150101000000"]));
    await expect.poll(() => answered.filter((each) => each === "slow hit")).toHaveLength(2);
    expect(told(await aggregator.timeMap({ uri: URI, waitMs: 0 }))).toEqual([
      "slow hit 1 -",
      "quick hit 1 -",
    ]);
    expect(requests).toHaveLength(2);
  });

  it("stops waiting when the signal is aborted, and leaves no listener behind", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const { aggregator } = aggregatorOf(["a"], async ({ url }) =>
      url.endsWith("never") ? never() : undefined,
    );
    for (let i = 0; i < 3; i++) await aggregator.timeMap({ uri: URI, signal });
    expect(listeners()).toBe(0);
    const answer = aggregator.timeMap({ uri: "http://a/never", signal });
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "MM_INTERRUPTED" });
    await expect(aggregator.timeMap({ uri: URI, signal })).rejects.toThrow(
      "the signal was aborted",
    );
    expect(listeners()).toBe(0);
  });

  it.each(["sampled", "explored"] as const)(
    "does not wait for archives that are asked as a sample, and hears them out: %s",
    async (reason) => {
      const { answer, release } = later();
      const archives = [archive("slow"), archive("quick")];
      const { upstream } = scriptedUpstream((request) =>
        asked(request).id === "slow" ? answer : held("q", ["20150101000000"]),
      );
      const router: Router = {
        archives,
        route: () => [decision("in-map", true, archives[1]), decision(reason, true, archives[0])],
      };
      const events: string[] = [];
      const observer: SessionObserver = {
        answered: (_session, outcome) => events.push(`${outcome.archive.id} ${outcome.result}`),
        ended: (_session, { mementos }) => events.push(`end ${mementos}`),
      };
      const aggregator = new Aggregator(router, upstream, { observers: [observer] });
      const aggregation = await aggregator.timeMap({ uri: URI });
      expect(told(aggregation)).toEqual(["quick hit 1 -"]);
      expect([aggregation.isWhole, events]).toEqual([true, ["quick hit"]]);
      release(held("s", ["20140101000000"]));
      await expect.poll(() => events).toEqual(["quick hit", "slow hit", "end 1"]);
      expect(aggregation.mementos.count).toBe(1);
    },
  );

  it("answers at once when no archive is to be asked", async () => {
    const { aggregator, requests } = aggregatorOf(["a"], never);
    const aggregation = await aggregator.timeMap({ uri: URI, only: ["other"] });
    expect(aggregation).toMatchObject({ outcomes: [], isWhole: true });
    expect([aggregation.mementos.count, requests.length]).toEqual([0, 0]);
  });

  it("makes whole addresses of relative ones", async () => {
    const { aggregator } = aggregatorOf(["a"], () => ({
      body: '</web/20150101000000/x>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"',
    }));
    const { mementos } = await aggregator.timeMap({ uri: URI });
    expect(mementos.at(0).uri).toBe("https://a.example/web/20150101000000/x");
  });
});

describe("Aggregator.timeGate", () => {
  const link = linkTimeMap(URI, "http://a/", ["20100101000000", "20150101000000"]).replaceAll(
    "\n",
    " ",
  );

  it("takes the mementos of Link headers", async () => {
    const { aggregator, requests } = aggregatorOf(["a"], () => ({
      status: 302,
      headers: { link, location: "http://a/20150101000000/x" },
    }));
    const { mementos } = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect([...mementos].map(({ datetime }) => datetime)).toEqual([20100101000000, 20150101000000]);
    expect(requests[0]).toMatchObject({
      url: `https://a.example/timegate/${URI}`,
      headers: { "accept-datetime": "Fri, 13 Feb 2015 09:45:21 GMT" },
      followsRedirects: false,
    });
  });

  const date = "Thu, 01 Jan 2015 00:00:00 GMT";
  it.each<[number, Record<string, string>, string]>([
    [302, { location: "/web/20150101000000/x" }, "https://a.example/web/20150101000000/x"],
    [307, { location: "http://b/20150101000000id_/x" }, "http://b/20150101000000id_/x"],
    [200, { "memento-datetime": date, "content-location": "http://b/m" }, "http://b/m"],
  ])("goes by where it leads or is, without links: %i %j", async (status, headers, uri) => {
    const { aggregator } = aggregatorOf(["a"], () => ({ status, headers }));
    const { mementos } = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect([...mementos]).toEqual([{ uri, datetime: 20150101000000, archive: 0 }]);
  });

  it("follows a TimeGate that moved, but not without end", async () => {
    const { aggregator, requests } = aggregatorOf(["a"], ({ url }) =>
      url.includes("/new/")
        ? { status: 302, headers: { link } }
        : { status: 301, headers: { location: "/new/" } },
    );
    const { mementos } = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect(mementos.count).toBe(2);
    expect(requests).toHaveLength(2);
    const circle = aggregatorOf(["a"], () => ({ status: 301, headers: { location: "/again" } }));
    const aggregation = await circle.aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect(told(aggregation)).toEqual(["a error 0 MM_BAD_INPUT"]);
    expect(circle.requests.map((each) => asked(each).endpoint)).toEqual([
      "timegate",
      "again",
      "again",
      "timemap",
    ]);
  });

  it.each<[string, ScriptedAnswer | Error]>([
    ["answers 500", { status: 500 }],
    ["answers 403", { status: 403 }],
    ["names no memento", { status: 200 }],
    [
      "is dormant",
      new MementoMapError("MM_REFUSED", "circuit breaker is open", { reason: "dormant" }),
    ],
    ["sends garbage", new MementoMapError("MM_HTTP", "not HTTP", { reason: "bad-http" })],
  ])("takes the TimeMap where the TimeGate %s", async (_name, gate) => {
    const { aggregator } = aggregatorOf(["a"], (request) => {
      if (asked(request).endpoint === "timegate") {
        if (gate instanceof Error) throw gate;
        return gate;
      }
      return held("a", ["20140101000000", "20150101000000"]);
    });
    const aggregation = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect(told(aggregation)).toEqual(["a hit 2 -"]);
    expect(aggregation.isWhole).toBe(true);
  });

  it("asks for no TimeMap where the archive cannot be reached", async () => {
    const { aggregator, requests } = aggregatorOf(["a"], () => {
      throw new MementoMapError("MM_HTTP", "connection refused", { reason: "connect" });
    });
    const aggregation = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect(aggregation.outcomes).toMatchObject([{ result: "error", failure: "connect" }]);
    expect(requests).toHaveLength(1);
  });

  it("asks the TimeMap of an archive that has no TimeGate, and the other way round", async () => {
    const list = [
      { ...archive("map"), timegate: undefined },
      { ...archive("gate"), timemap: undefined },
    ];
    const { upstream } = scriptedUpstream((request) => {
      if (asked(request).endpoint === "timegate") return { status: 302, headers: { link } };
      return { body: linkTimeMap(URI, request.url, ["20140101000000"]) };
    });
    const aggregator = new Aggregator(new MapRouter(list), upstream);
    const closest = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect(told(closest)).toEqual(["map hit 1 -", "gate hit 2 -"]);
    const all = await aggregator.timeMap({ uri: URI });
    expect(told(all)).toEqual(["map hit 1 -", "gate hit 2 MM_NOT_FOUND"]);
    expect(all.isWhole).toBe(false);
  });

  it("finds the TimeMap that only the TimeGate names", async () => {
    const list = [{ ...archive("gate"), timemap: undefined }];
    const { upstream, requests } = scriptedUpstream((request) =>
      asked(request).endpoint === "timegate"
        ? { status: 302, headers: { link: `${link}, </all>; rel="timemap"` } }
        : {
            body: linkTimeMap(URI, request.url, ["20140101000000"]),
          },
    );
    const aggregator = new Aggregator(new MapRouter(list), upstream);
    const all = await aggregator.timeMap({ uri: URI });
    expect(told(all)).toEqual(["gate hit 1 -"]);
    expect(requests.at(-1)?.url).toBe(new URL("/all", list[0]?.timegate).href);
  });

  it("tells misses from faults", async () => {
    const statuses: Record<string, number> = { none: 404, ill: 500, odd: 200 };
    const { aggregator } = aggregatorOf(["none", "ill", "odd"], (request) => ({
      status: statuses[asked(request).id] ?? 0,
    }));
    const aggregation = await aggregator.timeGate({ uri: URI, datetime: DATETIME });
    expect(told(aggregation)).toEqual([
      "none miss 0 -",
      "ill error 0 -",
      "odd error 0 MM_BAD_INPUT",
    ]);
  });
});
