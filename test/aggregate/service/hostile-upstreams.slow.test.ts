import { fork } from "node:child_process";
import { once } from "node:events";
import type { LookupFunction } from "node:net";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Archive } from "../../../src/aggregate/route/archive.ts";
import { aggregateProcess, writeList } from "../../support/aggregate-process.ts";
import { type Aggregating, aggregating, plainArchive } from "../../support/aggregating.ts";
import { MISBEHAVIOURS } from "../../support/hostile-archives.ts";

const TIME_MS = 4000;
const WITHIN_MS = 8000; // the machine may be busy with other tests

/** Names of this suite; all others are looked up by nobody. */
const lookup: LookupFunction = (host, options, callback) => {
  const give = (...addresses: string[]): void => {
    const found = addresses.map((address) => ({ address, family: 4 }));
    if (options.all === true) callback(null, found);
    else callback(null, addresses[0] ?? "", 4);
  };
  if (host === "throws.test") throw new TypeError("a resolver with a bug");
  if (host === "empty.test") give();
  else if (host === "private.test") give("127.0.0.1");
  else if (host === "garbage.test") give("not an address");
  else if (host === "many.test")
    give(...Array.from({ length: 500 }, (_, i) => `8.8.${i >> 8}.${i & 255}`), "10.0.0.1");
  else callback(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }), "");
};

/** The archives that misbehave; they live in a process of their own. */
async function hostileArchives(): Promise<readonly Archive[]> {
  const program = fileURLToPath(new URL("../../support/hostile-fleet.ts", import.meta.url));
  const child = fork(program, { execArgv: ["--import", "tsx"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  const [archives] = (await once(child, "message")) as [readonly Archive[]];
  return archives;
}

interface Running {
  readonly service: Aggregating;
  readonly hostile: readonly Archive[];
}

/** The service with all that misbehave and two that do not. */
async function running(): Promise<Running> {
  const hostile = await hostileArchives();
  const good = await plainArchive("good", ["20150101000000"]);
  const fine = await plainArchive("fine", ["20160101000000"]);
  const all = [...hostile.map((each) => ({ archive: each, url: "", requests: [] })), good, fine];
  const service = await aggregating(all, {
    aggregator: {
      upstream: {
        tolerance: Infinity,
        lookup,
        connectTimeoutMs: 1000,
        headersTimeoutMs: 3000,
        totalTimeoutMs: TIME_MS,
        cache: "off",
        limits: { maxBytes: 2 * 2 ** 20, maxMementos: 20_000, maxPages: 5 },
      },
      aggregator: { deadlineMs: TIME_MS + 1000 },
    },
    listen: { limits: { graceMs: 10 } },
  });
  return { service, hostile };
}

/** What became of each archive: what is missing by the header, the others by their mementos. */
async function ask(
  { service }: Running,
  path: string,
  only?: readonly string[],
): Promise<{ status: number; said: ReadonlyMap<string, string>; ms: number }> {
  const begun = performance.now();
  const answer = await fetch(`${service.url}${path}`, {
    redirect: "manual",
    headers: {
      "X-MementoMap-Route": "1",
      ...(only === undefined ? {} : { "X-MemGator-Archive-Filter": only.join(",") }),
    },
  });
  await answer.text();
  const said = new Map<string, string>();
  for (const [, id = "", result = ""] of (answer.headers.get("x-mementomap-route") ?? "").matchAll(
    /([\w.-]+)=[\w-]+;(\w+)/g,
  )) {
    said.set(id, result);
  }
  for (const each of (answer.headers.get("x-mementomap-missing") ?? "").split(", ")) {
    const [id = "", why = ""] = each.split(";");
    if (id !== "") said.set(id, why);
  }
  return { status: answer.status, said, ms: performance.now() - begun };
}

const collectGarbage = (): number => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
};

function openHandles(): number {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|TLS|Timeout|GetAddrInfo|Zlib/.test(name)).length;
}

describe("archives that misbehave, beside ones that do not", () => {
  it("are forty at least, each of its own name", () => {
    expect(MISBEHAVIOURS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MISBEHAVIOURS.map(({ name }) => name)).size).toBe(MISBEHAVIOURS.length);
  });

  it("alone: each has a word of its own, and the others' answers arrive in time", async () => {
    const suite = await running();
    const told = await Promise.all(
      MISBEHAVIOURS.map(async ({ name }) => {
        const { status, said, ms } = await ask(suite, `/timemap/link/http://example.org/${name}`, [
          name,
          "good",
        ]);
        return {
          name,
          said: said.get(name),
          good: said.get("good"),
          status,
          inTime: ms < WITHIN_MS,
        };
      }),
    );
    expect(told).toEqual(
      MISBEHAVIOURS.map(({ name, says }) => ({
        name,
        said: says,
        good: "hit",
        status: 200,
        inTime: true,
      })),
    );
  });

  it("as TimeGates: the others' answers arrive in time", async () => {
    const suite = await running();
    const { status, said, ms } = await ask(suite, "/timegate/http://example.org/");
    expect(status).toBe(302);
    expect([said.get("good"), said.get("fine")]).toEqual(["hit", "hit"]);
    expect(ms).toBeLessThan(WITHIN_MS);
    const bugs = Array.from(said).filter(([, why]) => why === "internal");
    // The resolver of this suite throws on purpose.
    expect(bugs.map(([id]) => id).filter((id) => id !== "resolver-throws")).toEqual([]);
  });

  it("all at once, again and again: memory, sockets and timers come back", async () => {
    const before = openHandles();
    const suite = await running();
    const round = async (number: number): Promise<void> => {
      const answers = await Promise.all(
        Array.from({ length: 3 }, (_, i) =>
          ask(suite, `/timemap/link/http://example.org/${number}/${i}`),
        ),
      );
      for (const { status, said } of answers) {
        expect(status).toBe(200);
        expect([said.get("good"), said.get("fine")]).toEqual(["hit", "hit"]);
      }
    };
    await round(0); // until all is loaded and compiled
    const heapBefore = collectGarbage();
    for (let i = 1; i < 3; i++) await round(i);
    const grown = collectGarbage() - heapBefore;
    expect(grown).toBeLessThan(8 * 2 ** 20);
    const { open } = suite.service;
    for (const archive of suite.hostile) {
      const { requestsUnderWay, requestsWaiting } = open.upstream.stateOf(archive);
      expect([archive.id, requestsUnderWay, requestsWaiting]).toEqual([archive.id, 0, 0]);
    }
    await suite.service.server.stop();
    await open.close();
    await expect.poll(openHandles, { timeout: 3000 }).toBeLessThanOrEqual(before + 12);
  });

  it("do not end the process", async () => {
    const hostile = (await hostileArchives()).map((archive) => ({ archive }));
    const good = await plainArchive("good", ["20150101000000"]);
    const options = [
      "--tolerance",
      "0",
      "--timeout",
      "3s",
      "--headers-timeout",
      "2s",
      "--connect-timeout",
      "1s",
      "--cache",
      "0",
      "--max-timemap",
      "4m",
    ];
    const { url, kill, done } = await aggregateProcess([
      "--archives",
      writeList([...hostile, good]),
      ...options,
    ]);
    for (let round = 0; round < 2; round++) {
      const paths = ["timemap/link", "timegate", "timemap/json"];
      const answers = await Promise.all(
        paths.map((path) =>
          fetch(`${url}/${path}/http://example.org/${round}`, { redirect: "manual" }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 302, 200]);
      for (const answer of answers) await answer.text();
    }
    kill("SIGTERM");
    const { code, stderr } = await done;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.not.stringMatching(/unhandled|uncaught/i) as string,
    });
  });
});
