import type { IncomingMessage, ServerResponse } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AggregatorServiceOptions } from "../../../src/aggregate/service/exchange.ts";
import {
  aggregating,
  type LocalArchive,
  localArchive,
  plainArchive,
} from "../../support/aggregating.ts";
import { scratchDir } from "../../support/scratch.ts";
import { linkTimeMap } from "../../support/scripted-upstream.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const MISS: Answer = (_request, response) => void response.writeHead(404).end();
const FAILS: Answer = (_request, response) => void response.writeHead(503).end();
const CUTS: Answer = (_request, response) => void response.destroy();
const HANGS: Answer = () => undefined;

interface Found {
  readonly status: number;
  readonly cacheControl: string;
  readonly type: string;
  readonly missing: readonly { archive: string; reason: string; detail: string }[];
}

async function ask(url: string, path: string): Promise<Found> {
  const answer = await fetch(url + path, { redirect: "manual" });
  const text = await answer.text();
  const document = JSON.parse(text) as { missing?: Found["missing"]; status: number };
  expect(document.status).toBe(answer.status);
  return {
    status: answer.status,
    cacheControl: answer.headers.get("cache-control") ?? "",
    type: answer.headers.get("content-type") ?? "",
    missing: document.missing ?? [],
  };
}

function named(answers: readonly Answer[]): Promise<LocalArchive[]> {
  return Promise.all(answers.map((answer, index) => localArchive(`a${index}`, answer)));
}

const PATHS = [
  "/timemap/link/http://example.org/",
  "/timegate/http://example.org/",
  "/memento/2015/http://example.org/",
  "/memento/json/2015/http://example.org/",
  "/memento/proxy/2015/http://example.org/",
  "/summary/http://example.org/",
];

describe("no memento was found", () => {
  it.each(PATHS)("and no archive answered: 502 with what failed, at %s", async (path) => {
    const { url } = await aggregating(await named([FAILS, CUTS]));
    const { missing, ...rest } = await ask(url, path);
    expect(rest).toEqual({
      status: 502,
      cacheControl: "no-store",
      type: "application/problem+json",
    });
    expect(missing.map(({ archive }) => archive)).toEqual(["a0", "a1"]);
    for (const { reason, detail } of missing) expect([reason, detail]).not.toContain("");
  });

  it("and every archive is late: 504", async () => {
    const { url } = await aggregating(await named([HANGS, HANGS]), {
      aggregator: { aggregator: { deadlineMs: 100 } },
      listen: { limits: { graceMs: 10 } },
    });
    const found = await ask(url, PATHS[0] ?? "");
    expect(found).toMatchObject({ status: 504, cacheControl: "no-store" });
    expect(found.missing).toHaveLength(2);
  });

  it("and every archive is dormant: 502, not a 404 that caches keep; /health is 503", async () => {
    const { url } = await aggregating(await named([FAILS, CUTS]), {
      aggregator: { upstream: { tolerance: 1 } },
    });
    await ask(url, PATHS[0] ?? "");
    const found = await ask(url, PATHS[0] ?? "");
    expect(found).toMatchObject({ status: 502, cacheControl: "no-store" });
    expect(found.missing.map(({ reason }) => reason)).toEqual(["dormant", "dormant"]);
    const health = await fetch(`${url}/health`);
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({
      status: "failing",
      archives: { all: 2, awake: 0, failing: 2 },
      problems: [
        { archive: "a0", problem: "dormant" },
        { archive: "a1", problem: "dormant" },
      ],
    });
  });

  it("is 404 exactly when an archive said so, and is stored only when all did", async () => {
    const kinds = { miss: MISS, fails: FAILS, cuts: CUTS };
    const some = fc.array(fc.constantFrom<keyof typeof kinds>("miss", "fails", "cuts"), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(some, async (names) => {
        const archives = await named(names.map((name) => kinds[name]));
        const { url } = await aggregating(archives);
        const { status, cacheControl, missing } = await ask(url, PATHS[0] ?? "");
        const failed = names.flatMap((name, index) => (name === "miss" ? [] : [`a${index}`]));
        expect(status).toBe(failed.length === names.length ? 502 : 404);
        expect(cacheControl).toBe(failed.length === 0 ? "public, max-age=600" : "no-store");
        expect(missing.map(({ archive }) => archive).sort()).toEqual(failed);
      }),
      { numRuns: 25 },
    );
  });
});

describe("no memento was found, but not every archive was queried", () => {
  const has = (): Promise<LocalArchive> => plainArchive("has", ["20050101000000"]);
  const none = (): Promise<LocalArchive> => plainArchive("none", []);

  it.each<[string, object, Partial<AggregatorServiceOptions>, string]>([
    ["archives that the client names", { Prefer: 'archives="none"' }, {}, "has (not-selected)"],
    ["a number of the service", {}, { defaults: { topK: 1 } }, "has (beyond-top-k)"],
    ["a likelihood", { Prefer: "min-likelihood=0.5" }, {}, "has (improbable)"],
  ])("by %s: 404 names the others, and is not stored", async (_what, headers, service, others) => {
    const [likely, unlikely] = [await none(), await has()];
    const archive = { ...likely.archive, probability: 0.9 };
    const { url } = await aggregating([{ ...likely, archive }, unlikely], { service });
    const answer = await fetch(`${url}/timemap/link/http://example.org/`, {
      headers: { ...headers },
    });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([404, "no-store"]);
    expect(await answer.json()).toMatchObject({
      detail: `no archive that was queried has a memento of this; not queried: ${others}`,
    });
  });

  it("of a period: 404 says so", async () => {
    const { url } = await aggregating([await has()]);
    const answer = await fetch(`${url}/timemap/link/http://example.org/`, {
      headers: { Prefer: "from=2015" },
    });
    expect([answer.status, answer.headers.get("vary")]).toEqual([
      404,
      expect.stringMatching("prefer"),
    ]);
    expect(await answer.json()).toMatchObject({
      detail: "no archive has a memento of this in the requested period",
    });
  });
});

describe("/health", () => {
  it("is degraded while one of several archives fails, and ok when it is back", async () => {
    let answer = FAILS;
    const archives = await named([MISS, (request, response) => answer(request, response)]);
    const { url } = await aggregating(archives, { aggregator: { upstream: { cache: "off" } } });
    const health = async (): Promise<unknown> => {
      const found = await fetch(`${url}/health`);
      return [found.status, await found.json()];
    };
    await ask(url, PATHS[0] ?? "");
    expect(await health()).toMatchObject([
      200,
      { status: "degraded", problems: [{ archive: "a1", problem: "failing" }] },
    ]);
    answer = MISS;
    await ask(url, PATHS[0] ?? "");
    expect(await health()).toMatchObject([200, { status: "ok", problems: [] }]);
  });

  it("tells of maps that are too old, refused or missing", async () => {
    const folder = scratchDir();
    const head = '!fields {"keys":["surt"],"values":["frequency"]}\n';
    const maps = {
      a0: `${head}!meta {"updated_at":"2001-01-01T00:00:00Z"}\ncom,* 5\n`,
      a1: `${head}com,b)/ 1\ncom,a)/ 1\n`,
      a2: `${head}com,* 5\n`,
    };
    const archives = (await named([MISS, MISS, MISS])).map((each, index) => {
      const mementomap = join(folder, `${index}.ukvs`);
      writeFileSync(mementomap, Object.values(maps)[index] ?? "");
      return { ...each, archive: { ...each.archive, mementomap } };
    });
    const { url, open } = await aggregating(archives, {
      aggregator: { maps: { maxMapAgeMs: 86_400_000 } },
    });
    writeFileSync(join(folder, "2.ukvs"), `${head}com,b)/ 1\ncom,a)/ 1\n`);
    await open.keeper.check();
    const { status, problems } = (await (await fetch(`${url}/health`)).json()) as {
      status: string;
      problems: { archive: string; problem: string }[];
    };
    expect(status).toBe("degraded");
    expect(problems.map(({ archive, problem }) => [archive, problem])).toEqual([
      ["a0", "map-too-old"],
      ["a1", "map-missing"],
      ["a2", "map-refused"],
    ]);
  });
});

describe("an answer made of one that was kept for long", () => {
  it.each(["timemap/link", "timemap/json", "timegate", "summary"])(
    "is fresh to caches for as long as any other: /%s",
    async (path) => {
      const old = await localArchive("old", (_request, response) => {
        response.writeHead(200, { Age: "1800", "Cache-Control": "max-age=3600" });
        response.end(
          linkTimeMap("http://example.org/", "http://old.example/web/", ["20150101000000"]),
        );
      });
      const { url } = await aggregating([old], { service: { maxAgeSeconds: 600 } });
      const ask = async (): Promise<Headers> => {
        const answer = await fetch(`${url}/${path}/http://example.org/`, { redirect: "manual" });
        await answer.text();
        return answer.headers;
      };
      expect((await ask()).get("cache-control")).toBe("public, max-age=600");
      const headers = await ask();
      const age = Number(headers.get("age"));
      const [, maxAge] = /max-age=(\d+)/.exec(headers.get("cache-control") ?? "") ?? [];
      expect(age).toBeGreaterThanOrEqual(1800);
      expect(Number(maxAge) - age).toBe(600);
    },
  );
});
