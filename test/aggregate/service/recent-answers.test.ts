import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RecentAnswers } from "../../../src/aggregate/service/recent-answers.ts";
import type { Decision, RouteReason } from "../../../src/aggregate/route/decision.ts";
import type { Outcome, Session } from "../../../src/aggregate/session.ts";
import type { WholeAnswer } from "../../../src/http/send.ts";
import { aggregating, localArchive, plainArchive } from "../../support/aggregating.ts";
import { LocalBus } from "../../support/local-bus.ts";
import { linkTimeMap } from "../../support/scripted-upstream.ts";

function answer(fields: readonly string[], bytes = 10, first = 0): WholeAnswer {
  return { status: 200, fields, body: new Uint8Array(bytes).fill(first, 0, 1) };
}

const FRESH = ["Cache-Control", "public, max-age=600"];
const ORIGINAL = "http://example.org/";
const OTHER = "http://example.org/other";
/** Keys have two lines. */
const KEY = "a\nkey";

function at(key: string, askedAt = 0, original = ORIGINAL): Parameters<RecentAnswers["find"]>[0] {
  return { key, original, askedAt };
}

function outcome(reason: RouteReason, result: Outcome["result"]): Outcome {
  const decision = { reason } as Decision;
  return { decision, result } as Outcome; // it looks at nothing else
}

function ageOf(found: WholeAnswer | undefined): number {
  const at = found?.fields.findIndex((name) => name.toLowerCase() === "age") ?? -1;
  return at === -1 ? 0 : Number(found?.fields[at + 1]);
}

describe("answers of the last minute", () => {
  it("are those that came last, with their age", () => {
    const steps = fc.array(
      fc.record({
        key: fc.constantFrom("*/*\na", "*/*\nb", "text/html\na"),
        isPut: fc.boolean(),
        ms: fc.integer({ min: 0, max: 36_000 }),
        age: fc.option(fc.integer({ min: 1, max: 100 })),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        let now = 0;
        const recent = new RecentAnswers({ now: () => now });
        const last = new Map<string, { age: number; at: number; given: WholeAnswer }>();
        for (const [place, { key, isPut, ms, age }] of all.entries()) {
          now += ms;
          if (isPut) {
            const aged = age === null ? [] : ["age", String(age)];
            const fields = ["Cache-Control", `public, max-age=${600 + (age ?? 0)}`, ...aged];
            const given = answer(fields, 10, place);
            recent.put(at(key, now), given);
            last.set(key, { age: age ?? 0, at: now, given });
            continue;
          }
          const known = last.get(key);
          const isRecent = known !== undefined && now - known.at < 60_000;
          const found = recent.find(at(key));
          expect(found?.body).toEqual(isRecent ? known.given.body : undefined);
          const seconds = isRecent ? Math.floor((now - known.at) / 1000) : 0;
          expect(ageOf(found)).toBe(isRecent ? known.age + seconds : 0);
        }
      }),
    );
  });

  it.each([
    ["says nothing of caches", []],
    ["is to be checked", ["cache-control", "no-cache"]],
    ["may not be stored", ["Cache-Control", "no-store"]],
    ["is fresh for less than that", ["Cache-Control", "public, max-age=59"]],
    ["will soon be stale", ["Age", "595", "Cache-Control", "public, max-age=600"]],
  ])("has none that %s", (_why, fields) => {
    const recent = new RecentAnswers({ now: () => 0 });
    recent.put(at(KEY), answer(FRESH));
    recent.put(at(KEY), answer(fields));
    expect(recent.find(at(KEY))).toBeUndefined();
  });

  it.each([
    ["an archive", ["Cache-Control", "no-cache", "X-MementoMap-Missing", "a;late"]],
    ["one that is dormant", [...FRESH, "X-MementoMap-Missing", "a;dormant"]],
  ])("has none that lacks %s, but the one before", (_which, fields) => {
    const recent = new RecentAnswers({ now: () => 0 });
    recent.put(at(KEY), answer(fields));
    expect(recent.find(at(KEY))).toBeUndefined();
    recent.put(at(KEY), answer(FRESH, 7));
    recent.put(at(KEY), answer(fields));
    expect(recent.find(at(KEY))?.body).toHaveLength(7);
  });

  it("takes 16 MiB at most, and forgets the oldest", () => {
    const recent = new RecentAnswers({ now: () => 0 });
    const keys = Array.from({ length: 400 }, (_, at) => `key\n${at}`);
    for (const key of keys) recent.put(at(key), answer(FRESH, 60_000));
    // From the last on: what is found again moves to the front, and something else goes.
    const kept = keys
      .toReversed()
      .filter((key) => recent.find(at(key)) !== undefined)
      .toReversed();
    expect(kept).toEqual(keys.slice(-kept.length));
    expect(kept.length * 60_000).toBeLessThan(16 * 2 ** 20);
    expect(kept.length).toBeGreaterThan(200);
    recent.put(at(KEY), answer(FRESH, 65_537));
    expect(recent.find(at(KEY))).toBeUndefined();
  });

  it("are outdated when an archive that was not waited for has something of the original", () => {
    let now = 0;
    const recent = new RecentAnswers({ now: () => now });
    const session = { uri: ORIGINAL } as Session; // it looks at nothing else
    recent.put(at(KEY), answer(FRESH));
    recent.put(at("other\nkey", 0, OTHER), answer(FRESH));
    recent.answered(session, outcome("likely", "hit"));
    recent.answered(session, outcome("explored", "miss"));
    expect(recent.find(at(KEY))).toBeDefined();
    now = 1000;
    recent.answered(session, outcome("explored", "hit"));
    expect(recent.find(at(KEY))).toBeUndefined();
    expect(recent.find(at("other\nkey", 0, OTHER))).toBeDefined();
    now = 2000;
    // One that was worked on meanwhile may lack it.
    recent.put(at(KEY, 500), answer(FRESH));
    expect(recent.find(at(KEY))).toBeUndefined();
    recent.put(at(KEY, 1500), answer(FRESH));
    expect(recent.find(at(KEY))).toBeDefined();
    recent.clear();
    recent.put(at(KEY, 1900), answer(FRESH));
    expect(recent.find(at(KEY))).toBeUndefined();
  });

  it("are outdated in all processes", () => {
    const bus = new LocalBus();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const [one, two] = [1, 2].map(() => new RecentAnswers({ now: () => 0, bus: bus.join() }));
    two?.put(at(KEY, -1), answer(FRESH));
    one?.answered({ uri: ORIGINAL } as Session, outcome("explored", "hit"));
    vi.runAllTimers();
    expect(two?.find(at(KEY))).toBeUndefined();
  });
});

describe("a service that repeats answers", () => {
  const service = { repeatsAnswers: true };

  /** The number of mementos in the answer, and how old it is. */
  async function asked(
    url: string,
    headers: Record<string, string> = {},
    method = "GET",
  ): Promise<string> {
    const answer = await fetch(`${url}/timemap/link/${ORIGINAL}`, { headers, method });
    await answer.text();
    return `${answer.headers.get("x-memento-count")} ${answer.headers.get("x-mementomap-missing")}`;
  }

  it("asks no archive, unless the client wants a new answer, which is repeated then", async () => {
    const datetimes = ["20150101000000"];
    const growing = await localArchive("a", (_request, response) => {
      response.writeHead(200, { "Content-Type": "application/link-format" });
      response.end(linkTimeMap(ORIGINAL, "http://a.test/web/", datetimes));
    });
    const { url, open } = await aggregating([growing], { service });
    const sessions = (): number => open.estimate.report().sessions;
    expect([await asked(url), await asked(url)]).toEqual(["1 null", "1 null"]);
    expect(sessions()).toBe(1);
    datetimes.push("20160101000000");
    expect(await asked(url, { "Cache-Control": "no-cache" })).toBe("2 null");
    expect(await asked(url)).toBe("2 null");
    expect(sessions()).toBe(2);
    await asked(url, { Prefer: "archives=a" });
    await asked(url, {}, "HEAD");
    expect(sessions()).toBe(4);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain("mementomap_repeated_answers_total 2\n");
  });

  it("does not repeat what lacks an archive, or is of another list", async () => {
    const good = await plainArchive("good", ["20150101000000"]);
    let isBroken = true;
    const bad = await localArchive("bad", (_request, response) => {
      if (isBroken) response.writeHead(500).end();
      else response.writeHead(404).end();
    });
    const upstream = { tolerance: 1, dormantMs: 50 };
    const { url, open } = await aggregating([good, bad], { service, aggregator: { upstream } });
    expect(await asked(url)).toBe("1 bad;status-500");
    expect(await asked(url)).toBe("1 bad;dormant");
    isBroken = false;
    await expect.poll(() => asked(url)).toBe("1 null");
    const sessions = (): number => open.estimate.report().sessions;
    const before = sessions();
    expect(await asked(url)).toBe("1 null");
    expect(sessions()).toBe(before);
    await open.replaceArchives([bad.archive]);
    expect(await asked(url)).toBe("0 null");
  });

  /** An aggregator that has learnt that `good` has everything, and `poor` nothing. */
  async function learnt(
    answer: (id: string, response: ServerResponse) => void,
  ): Promise<Awaited<ReturnType<typeof aggregating>>> {
    const archives = await Promise.all(
      ["good", "poor"].map((id) => localArchive(id, (_request, response) => answer(id, response))),
    );
    const learn = { recall: 0.9, memoryBytes: 2 ** 20 };
    const aggregation = await aggregating(archives, { service, aggregator: { learn } });
    const { learner } = aggregation.open;
    for (let i = 0; i < 500; i++) {
      const surt = `org,host${i})/`;
      learner?.look(new TextEncoder().encode(surt));
      learner?.begin();
      for (const archive of [0, 1]) learner?.decide(archive);
      learner?.observe({ archive: "good", surt, mementos: 1 });
      learner?.observe({ archive: "poor", surt, mementos: 0 });
    }
    return aggregation;
  }

  const hasOne = (id: string, response: ServerResponse): void => {
    response.writeHead(200, { "Content-Type": "application/link-format" });
    response.end(linkTimeMap(ORIGINAL, `http://${id}/`, ["20150101000000"]));
  };

  it("lets one client wait for an archive that was spared, and not all that come meanwhile", async () => {
    const waiting: (() => void)[] = [];
    const { url, open } = await learnt((id, response) => {
      if (id === "good") hasOne(id, response);
      else waiting.push(() => hasOne(id, response));
    });
    for (let time = 0; time < 7; time++) expect(await asked(url)).toBe("1 null");
    // What is asked for as often is asked of every archive once.
    const first = Array.from({ length: 3 }, () => asked(url));
    await expect.poll(() => waiting.length).toBe(1);
    const others = await Promise.all(Array.from({ length: 50 }, () => asked(url)));
    expect(new Set(others)).toEqual(new Set(["1 null"]));
    for (const answer of waiting) answer();
    expect(new Set(await Promise.all(first))).toEqual(new Set(["1 null", "2 null"]));
    expect(open.estimate.report().sessions).toBe(2);
    expect(open.learner?.policy.lookups).toBe(560);
  });

  it("does not give what lacks an archive that was found to have the original", async () => {
    const { url, open } = await learnt(hasOne);
    expect(await asked(url)).toMatch(/^[12] null$/);
    const all = await fetch(`${url}/timemap/json/${ORIGINAL}`, {
      headers: { Prefer: "routing=off" },
    });
    expect(await all.json()).toMatchObject({});
    const before = open.learner?.policy.measured[0] ?? 0;
    const again = await asked(url);
    const counted = (open.learner?.policy.measured[0] ?? 0) - before;
    expect(`${counted} null`).toBe(again);
  });

  it("says how many archives have the original, also on a page for people", async () => {
    const { url } = await learnt(hasOne);
    for (const accept of ["application/link-format", "text/html"]) {
      for (let time = 0; time < 2; time++) {
        const { headers } = await fetch(`${url}/timemap/link/${ORIGINAL}`, { headers: { accept } });
        expect(headers.get("x-mementomap-archives")).toBe(headers.get("x-memento-count"));
      }
    }
  });

  it("asks an archive that was spared once an original is wanted often", async () => {
    const asks: string[] = [];
    const { url, open } = await learnt((id, response) => {
      asks.push(id);
      hasOne(id, response);
    });
    expect(await asked(url)).toBe("1 null");
    for (let time = 1; time < 20; time++) await asked(url);
    expect(asks.toSorted()).toEqual(["good", "poor"]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const [, repeated] = /mementomap_repeated_answers_total (\d+)/.exec(metrics) ?? [];
    expect(Number(repeated)).toBeGreaterThan(4);
    expect(open.learner?.policy.lookups).toBe(520);
  });
});
