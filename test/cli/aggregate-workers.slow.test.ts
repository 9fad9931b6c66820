import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { localArchive, plainArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import {
  isRunning,
  listOf,
  listText,
  metric,
  newConnection,
  oneConnection,
  pidsOf,
  twoWorkers,
  WAIT,
} from "../support/worker-service.ts";

const TIMEMAPS = 'mementomap_requests_total{route="timemap",status="200"}';

describe.skipIf(process.platform === "win32")("aggregate --serve --workers 2", () => {
  it("answers on one port, says where once, and adds up what they count", async () => {
    const list = listOf([await plainArchive("one", ["20050101000000"])]);
    const argv = ["-a", list, "--metrics-port", "0"];
    const { url, metrics = "", stdout, kill, done } = await twoWorkers(argv);
    const clients = Array.from({ length: 8 }, oneConnection);
    const timemap = `${url}/timemap/link/http://example.org/`;
    expect(await Promise.all(clients.map((client, at) => client(`${timemap}${at}`)))).toEqual(
      clients.map(() => 200),
    );
    expect(await metric(metrics, TIMEMAPS)).toBe(8);
    expect(await metric(metrics, "mementomap_questions_total")).toBe(8);
    expect(await metric(metrics, "mementomap_archive_list_archives")).toBe(1);
    expect(await metric(metrics, "mementomap_workers")).toBe(2);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    const about = (await (await fetch(`${url}/about.json`)).json()) as Record<string, unknown>;
    expect(about).toMatchObject({ workers: { wanted: 2, running: 2 } });
    expect(await (await fetch(`${metrics}/health`)).json()).toMatchObject({ status: "ok" });
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
    expect(stdout()).toBe(`${JSON.stringify({ url, metrics })}\n`);
  });

  it("replaces a worker that is killed, and keeps no client waiting", async () => {
    const list = listOf([await plainArchive("one", ["20050101000000"])]);
    const { url, lines, kill, done } = await twoWorkers(["-a", list]);
    const timemap = `${url}/timemap/link/http://example.org/`;
    const clients = Array.from({ length: 6 }, oneConnection);
    let isOver = false;
    onTestFinished(() => void (isOver = true));
    const load = clients.map(async (client, at) => {
      const failures: string[] = [];
      const answers = new Set<number>();
      while (!isOver) {
        await client(`${timemap}${at}`).then(
          (status) => answers.add(status),
          (error: Error) => failures.push(error.message),
        );
      }
      return { answers: [...answers], failures };
    });
    const [first = 0] = pidsOf(lines());
    process.kill(first, "SIGKILL");
    await expect.poll(() => pidsOf(lines()).length, WAIT).toBe(3);
    isOver = true;
    // Those of the worker that was killed lose one connection, and the next is taken by the other.
    for (const { answers, failures } of await Promise.all(load)) {
      expect(answers).toEqual([200]);
      expect(failures.length).toBeLessThanOrEqual(1);
    }
    expect(lines()).toContainEqual(
      expect.objectContaining({
        msg: "worker ended; restarting it",
        worker: 1,
        pid: first,
        signal: "SIGKILL",
      }),
    );
    expect(await metric(url, "mementomap_worker_restarts_total")).toBe(1);
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      workers: { wanted: 2, running: 2 },
    });
    kill("SIGINT");
    expect(await done).toMatchObject({ code: 0 });
  });

  it("ends what is under way when it is told to stop, and leaves no process", async () => {
    let release = (): void => undefined;
    const slow = await localArchive("slow", (_request, response) => {
      release = () => void response.writeHead(404).end();
    });
    const { url, pid, lines, kill, done } = await twoWorkers(["-a", listOf([slow])]);
    const answer = fetch(`${url}/timemap/link/http://example.org/`);
    await expect.poll(() => slow.requests.length, WAIT).toBe(1);
    kill("SIGTERM");
    await expect.poll(() => lines().filter(({ msg }) => msg === "stopping").length, WAIT).toBe(2);
    release();
    expect((await answer).status).toBe(404);
    expect(await done).toMatchObject({ code: 0, signal: null });
    expect([pid, ...pidsOf(lines())].filter(isRunning)).toEqual([]);
  });

  it("leaves no worker when the primary process is killed", async () => {
    const { lines, kill, done } = await twoWorkers(["-a", listOf([await plainArchive("a", [])])]);
    const pids = pidsOf(lines());
    kill("SIGKILL");
    await done;
    await expect.poll(() => pids.filter(isRunning), WAIT).toEqual([]);
  });

  it("reads its list and opens its logs again in every worker on SIGHUP", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const two = await plainArchive("two", ["20060101000000"]);
    const list = listOf([one]);
    const log = join(scratchDir(), "memgator.log");
    const { url, lines, kill, done } = await twoWorkers(["-a", list, "--log", log]);
    writeFileSync(list, listText([one, two]));
    renameSync(log, `${log}.1`);
    kill("SIGHUP");
    const changed = (): Set<number | undefined> =>
      new Set(
        lines().flatMap(({ msg, worker }) => (msg === "archive list reloaded" ? [worker] : [])),
      );
    await expect.poll(changed, WAIT).toEqual(new Set([1, 2]));
    const clients = Array.from({ length: 4 }, oneConnection);
    for (const client of clients) await client(`${url}/timemap/link/http://example.org/`);
    kill("SIGTERM");
    await done;
    const sessions = readFileSync(log, "utf8").match(/createsess/g) ?? [];
    expect(sessions).toHaveLength(4);
  });

  it("writes whole lines to the logs that workers share", async () => {
    const list = listOf([await plainArchive("one", ["20050101000000"])]);
    const folder = scratchDir();
    const log = join(folder, "memgator.log");
    const access = join(folder, "access.log");
    const cache = join(folder, "cache");
    const logs = ["--log", log, "--access-log", access];
    const { url, kill, done } = await twoWorkers(["-a", list, "--state", cache, ...logs]);
    const clients = Array.from({ length: 20 }, oneConnection);
    const long = "x".repeat(3000);
    await Promise.all(
      clients.map(async (client, at) => {
        for (let i = 0; i < 20; i++) {
          await client(`${url}/timemap/link/http://example.org/${at}/${i}/${long}`);
        }
      }),
    );
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
    const requests = readFileSync(access, "utf8").trimEnd().split("\n");
    expect(requests).toHaveLength(400);
    for (const line of requests) {
      expect(line).toMatch(
        /^127\.0\.0\.1 - - \[[^\]]+\] "GET \/timemap\/\S+ HTTP\/1\.1" 200 \d+ "-" "-"$/,
      );
    }
    const rows = readFileSync(log, "utf8").trimEnd().split("\n");
    const sessions = rows.flatMap((row, at) => {
      const [, id] = /^BENCHMARK: \S+ \S+ (\d+) .*"createsess"/.exec(row) ?? [];
      return id === undefined ? [] : [{ id, next: rows[at + 1] }];
    });
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(400);
    expect(sessions.filter(({ next }) => !next.includes("Aggregating Mementos"))).toEqual([]);
  });

  it("writes requests to standard output after its address, if that is wanted", async () => {
    const list = listOf([await plainArchive("one", [])]);
    const argv = ["-a", list, "--access-log", "-"];
    const { url, stdout, kill, done } = await twoWorkers(argv);
    await Promise.all(Array.from({ length: 4 }, () => newConnection(`${url}/archives.json`)));
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
    const [address, ...requests] = stdout().trimEnd().split("\n");
    expect(address).toBe(JSON.stringify({ url }));
    expect(requests).toHaveLength(4);
    for (const line of requests) expect(line).toMatch(/"GET \/archives\.json HTTP\/1\.1" 200 /);
  });

  it("says once what is wrong with the port, and ends", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const list = listOf([await plainArchive("one", [])]);
    const argv = ["aggregate", "--serve", "--workers", "3", "-a", list, "--port", port];
    const { code, stdout, stderr } = await spawnCli(argv).done;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^mementomap: .*the port is in use by another process.*\[MM_IO\]\n$/);
  });
});
