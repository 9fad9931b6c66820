import { existsSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { localArchive, plainArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import {
  listOf,
  metric,
  newConnection,
  oneConnection,
  pidsOf,
  twoWorkers,
  WAIT,
  type Workers,
} from "../support/worker-service.ts";

interface Load {
  /** What became of all requests so far. */
  readonly answers: Set<number | string>;
  readonly stop: () => Promise<void>;
}

/** Clients that keep their connections, and others that do not, for different URIs all the time. */
function load({ url }: Workers): Load {
  const answers = new Set<number | string>();
  let isOver = false;
  let asked = 0;
  const target = (): string => `${url}/timemap/link/http://load.test/${(asked += 1)}`;
  const keeping = Array.from({ length: 8 }, oneConnection).map(async (client) => {
    while (!isOver) answers.add(await client(target()).catch((error: Error) => error.message));
  });
  const coming = Array.from({ length: 4 }, async () => {
    while (!isOver) answers.add(await newConnection(target()));
  });
  return {
    answers,
    async stop() {
      isOver = true;
      await Promise.all([...keeping, ...coming]);
    },
  };
}

/** TimeMaps of some originals. */
function originals(url: string, host: string): string[] {
  return Array.from({ length: 8 }, (_, i) => `${url}/timemap/link/http://${host}/${i}`);
}

describe.skipIf(process.platform === "win32")("two workers as one service", () => {
  it("have one cache, and ask once for what many want at the same time", async () => {
    let answer = (): void => undefined;
    const slow = await localArchive("slow", (_request, response) => {
      answer = () => void response.writeHead(404).end();
    });
    const { url, kill, done } = await twoWorkers(["-a", listOf([slow])]);
    for (const original of ["http://a.test/", "http://b.test/", "http://c.test/"]) {
      const before = slow.requests.length;
      const clients = Array.from({ length: 12 }, oneConnection);
      const target = `${url}/timemap/link/${original}`;
      const answers = Promise.all(clients.map((client) => client(target)));
      const joined = 'mementomap_upstream_coalesced_total{archive="slow"}';
      await expect.poll(() => metric(url, joined), WAIT).toBe(11 * (before + 1));
      answer();
      expect(new Set(await answers)).toEqual(new Set([404]));
      expect(new Set(await Promise.all(clients.map((client) => client(target))))).toEqual(
        new Set([404]),
      );
      expect(slow.requests.length).toBe(before + 1);
    }
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it("answer again what another one has just answered, unless the client wants it new", async () => {
    const archive = await plainArchive("one", ["20050101000000"]);
    const { url, kill, done } = await twoWorkers(["-a", listOf([archive])]);
    const target = `${url}/timemap/link/http://popular.test/`;
    const clients = Array.from({ length: 8 }, oneConnection);
    const found = 'mementomap_upstream_cache_hits_total{archive="one"}';
    for (const client of clients) expect(await client(target)).toBe(200);
    // Of the four clients of one worker, the archive answered the first. Of those of the other worker, the first was
    // forwarded, and answered from the cache.
    await expect.poll(() => metric(url, found), WAIT).toBe(1);
    await expect.poll(() => metric(url, "mementomap_repeated_answers_total"), WAIT).toBe(6);
    expect(archive.requests).toHaveLength(1);
    for (const client of clients) {
      expect(await client(target, { "cache-control": "no-cache" })).toBe(200);
    }
    expect(archive.requests).toHaveLength(1 + clients.length);
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it("find what is on disk again after all were ended", { timeout: 60_000 }, async () => {
    const archive = await plainArchive("one", ["20050101000000"]);
    const options = ["-a", listOf([archive]), "--cache-dir", scratchDir()];
    for (let round = 0; round < 2; round++) {
      const { url, kill, done } = await twoWorkers(options);
      const kept = originals(url, "kept.test");
      for (const target of [...kept, ...kept]) expect(await newConnection(target)).toBe("answered");
      kill("SIGTERM");
      expect(await done).toMatchObject({ code: 0 });
      expect(archive.requests).toHaveLength(kept.length);
    }
  });

  it("name the address that clients use, whichever of them answers", async () => {
    const list = listOf([await plainArchive("one", ["20050101000000"])]);
    const { url, kill, done } = await twoWorkers(["-a", list]);
    for (let at = 0; at < 8; at++) {
      const original = `http://example.org/${at}?a=%2F&b=%C3%BC`;
      const answer = await fetch(`${url}/timemap/link/${original}`, {
        headers: { Connection: "close" },
      });
      expect(await answer.text()).toContain(`<${url}/timemap/link/${original}>`);
    }
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it("answer the clients of one while the other is killed", { timeout: 60_000 }, async () => {
    const list = listOf([await plainArchive("one", ["20050101000000"])]);
    const workers = await twoWorkers(["-a", list]);
    const clients = Array.from({ length: 6 }, oneConnection);
    const target = (at: number): string => `${workers.url}/timemap/link/http://own.test/${at}`;
    for (const [at, client] of clients.entries()) await client(target(at));
    const workerOf = (at: number): number | undefined =>
      workers.lines().find((line) => line.target?.endsWith(`own.test/${at}`))?.worker;
    await expect.poll(() => clients.every((_, at) => workerOf(at)), WAIT).toBe(true);
    let isOver = false;
    let asked = clients.length;
    // A new URI each time, of which the killed one owns half.
    const loads = clients.map(async (client, at) => {
      const answers = new Set<number | string>();
      while (!isOver) {
        answers.add(await client(target((asked += 1))).catch((error: Error) => error.message));
      }
      return { worker: workerOf(at), answers: [...answers] };
    });
    await expect.poll(() => asked, WAIT).toBeGreaterThan(100);
    const [, second = 0] = pidsOf(workers.lines());
    process.kill(second, "SIGKILL");
    await expect.poll(() => pidsOf(workers.lines()).length, WAIT).toBe(3);
    const before = asked;
    await expect.poll(() => asked, WAIT).toBeGreaterThan(before + 100);
    isOver = true;
    const answers = (await Promise.all(loads)).filter(({ worker }) => worker === 1);
    expect(answers).toEqual(Array.from({ length: 3 }, () => ({ worker: 1, answers: [200] })));
    workers.kill("SIGTERM");
    expect(await workers.done).toMatchObject({ code: 0 });
  });

  it("know together which archives are dormant, also after all were killed", async () => {
    const down = await localArchive("down", (_request, response) => {
      response.writeHead(503).end();
    });
    const up = await plainArchive("up", ["20050101000000"]);
    const { url, lines, kill, done } = await twoWorkers(
      `-a ${listOf([down, up])} --tolerance 4 --retries 0`.split(" "),
    );
    let asked = 0;
    const ask = async (): Promise<string | null> => {
      const target = `${url}/timemap/link/http://example.org/${(asked += 1)}`;
      const answer = await fetch(target, { headers: { Connection: "close" } });
      return answer.headers.get("x-mementomap-missing");
    };
    const askTen = async (): Promise<Set<string | null>> =>
      new Set(await Promise.all(Array.from({ length: 10 }, ask)));
    while ((await ask()) === "down;status-503");
    await expect.poll(askTen, WAIT).toEqual(new Set(["down;dormant"]));
    // One that was sent before the other worker knew.
    expect([4, 5]).toContain(down.requests.length);
    const before = down.requests.length;
    const [first = 0, second = 0] = pidsOf(lines());
    process.kill(first, "SIGKILL");
    await expect.poll(() => pidsOf(lines()).length, WAIT).toBe(3);
    process.kill(second, "SIGKILL");
    await expect.poll(() => pidsOf(lines()).length, WAIT).toBe(4);
    expect(await askTen()).toEqual(new Set(["down;dormant"]));
    expect(down.requests.length).toBe(before);
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it(
    "know together what was learnt, also one that replaces another",
    { timeout: 180_000 },
    async () => {
      const archives = [
        await plainArchive("one", ["20050101000000"]),
        await plainArchive("none", []),
      ];
      const state = join(scratchDir(), "state");
      const { url, lines, kill, done } = await twoWorkers(
        `-a ${listOf(archives)} --recall 0.9 --state ${state}`.split(" "),
      );
      const asked = 40;
      for (let at = 0; at < asked; at++)
        await fetch(`${url}/timemap/link/http://learnt.test/${at}`);
      // Connections of their own, so that both workers say what they know.
      const reasons = async (): Promise<Set<string | undefined>> => {
        const answers = Array.from({ length: 6 }, async () => {
          const target = `${url}/route/http://learnt.test/other`;
          const answer = await fetch(target, { headers: { Connection: "close" } });
          return /\d+ of \d+ lookups under test,learnt\)?/.exec(await answer.text())?.[0];
        });
        return new Set(await Promise.all(answers));
      };
      const learnt = new Set([`${asked} of ${asked} lookups under test,learnt)`]);
      await expect.poll(reasons, WAIT).toEqual(learnt);
      // Each counts what the other decides.
      const decided = async (): Promise<unknown> => {
        const answer = await fetch(`${url}/about.json`, { headers: { Connection: "close" } });
        const about = (await answer.json()) as { learning: { lookups: number } };
        return about.learning.lookups;
      };
      await expect.poll(decided, WAIT).toBe(asked);
      for (const which of [0, 1]) {
        process.kill(pidsOf(lines())[which], "SIGKILL");
        await expect.poll(() => pidsOf(lines()).length, WAIT).toBe(3 + which);
        await expect.poll(reasons, WAIT).toEqual(learnt);
      }
      kill("SIGHUP");
      await expect.poll(() => pidsOf(lines()).length, WAIT).toBe(6);
      await expect.poll(reasons, WAIT).toEqual(learnt);
      kill("SIGTERM");
      expect(await done).toMatchObject({ code: 0 });
      expect(lines().filter(({ msg }) => msg.includes("not saved"))).toEqual([]);
      expect(existsSync(join(state, "learnt.bin"))).toBe(true);
    },
  );

  it("keep small limits of an archive together", async () => {
    let underWay = 0;
    let most = 0;
    const narrow = await localArchive("narrow", (_request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setImmediate(() => {
        underWay -= 1;
        response.writeHead(404).end();
      });
    });
    const { id, name, timemap } = narrow.archive;
    const list = join(scratchDir(), "narrow.json");
    writeFileSync(list, JSON.stringify([{ id, name, timemap, concurrency: 1 }]));
    const { url, kill, done } = await twoWorkers(["-a", list]);
    const clients = Array.from({ length: 3 }, oneConnection);
    const answers = clients.map(async (client, at) => {
      const statuses: number[] = [];
      for (let turn = 0; turn < 10; turn++) {
        statuses.push(await client(`${url}/timemap/link/http://example.org/${at}/${turn}`));
      }
      return statuses;
    });
    expect(new Set((await Promise.all(answers)).flat())).toEqual(new Set([404]));
    expect({ most, asked: narrow.requests.length }).toEqual({ most: 1, asked: 30 });
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it("show what all of them do and did, whichever is asked", async () => {
    const list = listOf([await plainArchive("one", ["20050101000000"])]);
    const { url, lines, kill, done } = await twoWorkers(["-a", list, "--monitor"]);
    const events: string[] = [];
    const listeners = [0, 1].map(
      (which) =>
        new Promise<void>((resolve) => {
          get(`${url}/monitor`, { agent: false }, (response) => {
            resolve();
            response.setEncoding("utf8");
            response.on("data", (text: string) => (events[which] = (events[which] ?? "") + text));
            response.on("error", () => undefined);
          });
        }),
    );
    await Promise.all(listeners);
    const clients = Array.from({ length: 12 }, oneConnection);
    for (const [at, client] of clients.entries()) {
      await client(`${url}/timemap/link/http://example.org/${at}`);
    }
    const sessions = (which: number): number => events[which]?.match(/"createsess"/g)?.length ?? 0;
    await expect.poll(() => [sessions(0), sessions(1)], WAIT).toEqual([12, 12]);
    const known = async (): Promise<unknown> => {
      const answer = await fetch(`${url}/about.json`, { headers: { Connection: "close" } });
      const { routing, archives, workers } = (await answer.json()) as Record<string, unknown>;
      return { routing, archives, workers };
    };
    const all = {
      routing: { sessions: 12, asked: 12 },
      archives: [{ id: "one", hits: 12, mementos: 12 }],
      workers: { wanted: 2, running: 2 },
    };
    expect(await known()).toMatchObject(all);
    const [first = 0] = pidsOf(lines());
    process.kill(first, "SIGKILL");
    await expect.poll(() => pidsOf(lines()).length, WAIT).toBe(3);
    expect(await known()).toMatchObject(all);
    expect(await known()).toMatchObject(all);
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it(
    "are replaced one after the other on SIGHUP, and no request fails",
    { timeout: 60_000 },
    async () => {
      const archive = await plainArchive("one", ["20050101000000"]);
      const list = listOf([archive]);
      const workers = await twoWorkers(["-a", list]);
      const { answers, stop } = load(workers);
      await expect.poll(() => answers.size, WAIT).toBe(2);
      const kept = originals(workers.url, "kept.test");
      for (const target of kept) expect(await newConnection(target)).toBe("answered");
      const isKept = ({ target }: { readonly target: string }): boolean =>
        target.includes("kept.test/");
      workers.kill("SIGHUP");
      await expect.poll(() => pidsOf(workers.lines()).length, WAIT).toBe(4);
      await expect
        .poll(() => workers.lines().filter(({ msg }) => msg === "stopping").length, WAIT)
        .toBe(2);
      await stop();
      expect(answers).toEqual(new Set([200, "answered"]));
      // The cache was handed over, and who has what, whichever worker is asked.
      for (const target of [...kept, ...kept, ...kept]) {
        expect(await newConnection(target)).toBe("answered");
      }
      expect(archive.requests.filter(isKept)).toHaveLength(kept.length);
      expect(await (await fetch(`${workers.url}/health`)).json()).toMatchObject({
        status: "ok",
        workers: { wanted: 2, running: 2 },
      });
      workers.kill("SIGTERM");
      expect(await workers.done).toMatchObject({ code: 0 });
    },
  );
});
