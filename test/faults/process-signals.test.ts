import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { localArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";
import {
  digestOf,
  fileJobs,
  type Inputs,
  type Job,
  litterOf,
  makeInputs,
  networkJobs,
  type Network,
  reset,
} from "./jobs.ts";
import { type Ended, run, start } from "./process.ts";

let inputs: Inputs;
let network: Network;

beforeAll(async () => {
  inputs = await makeInputs(30_000);
  network = await networkJobs(inputs);
});

afterAll(() => {
  network.close();
  inputs.close();
});

/** What fetch and harvest keep, so that the next run goes on. */
const KEPT = /\.part(?:\.json|\.words)?$/;

/** Sends a signal to a job at some moment; gives what it ended with. */
async function signalled(
  job: Job,
  signal: NodeJS.Signals,
  when: (kill: () => void) => (() => void) | undefined,
): Promise<Ended> {
  reset(job);
  const { child, ended } = start(job.argv, { env: { TMPDIR: job.tmp } });
  const off = when(() => void child.kill(signal));
  const { code, signal: by, stderr, ...more } = await ended;
  off?.();
  // Before Node has started, nobody hears the signal but the system.
  const isStopped = code === 130 || by === signal;
  const isSaid = stderr.includes("[MM_INTERRUPTED]") === (code === 130);
  const isRight = isSaid && (isStopped || code === 0);
  expect({ job: job.name, code, by, stderr, isRight }).toMatchObject({ isRight: true });
  return { ...more, code, signal: by, stderr };
}

/** At a random moment of a run that takes so long. */
function within(ms: number): (kill: () => void) => () => void {
  return (kill) => {
    const timer = setTimeout(kill, ms * Math.random());
    return () => clearTimeout(timer);
  };
}

/** Runs a job from the beginning; gives what it found, what it made, and how long it took. */
async function whole(job: Job): Promise<{ before: string; after: string; ms: number }> {
  reset(job);
  const before = digestOf(job.target);
  const { code, ms } = await run(job.argv, { env: { TMPDIR: job.tmp } });
  expect({ job: job.name, code }).toEqual({ job: job.name, code: 0 });
  return { before, after: digestOf(job.target), ms };
}

describe.skipIf(process.platform === "win32").each(["SIGTERM", "SIGINT"] as const)(
  "%s",
  (signal) => {
    it("at any moment leaves the old or the new, and nothing else", async () => {
      for (const job of fileJobs(inputs).filter(
        (_, i) => i % 2 === (signal === "SIGINT" ? 0 : 1),
      )) {
        const { before, after, ms } = await whole(job);
        await signalled(job, signal, within(ms));
        expect([before, after]).toContain(digestOf(job.target));
        expect({ job: job.name, litter: litterOf(job) }).toEqual({ job: job.name, litter: [] });
      }
    });

    it("at any moment of a fetch or harvest leaves what the next run goes on with", async () => {
      for (const job of network.jobs) {
        const { before, after, ms } = await whole(job);
        await signalled(job, signal, within(ms));
        expect([before, after]).toContain(digestOf(job.target));
        const litter = litterOf(job).filter((name) => !KEPT.test(name));
        expect({ job: job.name, litter }).toEqual({ job: job.name, litter: [] });
        const { code } = await run(job.argv, { env: { TMPDIR: job.tmp } });
        const found = { code, digest: digestOf(job.target), litter: litterOf(job) };
        expect({ job: job.name, ...found }).toEqual({
          job: job.name,
          code: 0,
          digest: after,
          litter: [],
        });
      }
    });

    it("in the middle of a download keeps the half that is there", async () => {
      const job = network.jobs.find(({ onHalf }) => onHalf !== undefined) as Job;
      const { before, after } = await whole(job);
      const part = join(job.target, "..", ".map.ukvs.part");
      const { code } = await signalled(job, signal, (kill) => {
        job.onHalf?.(async () => {
          await until(() => existsSync(part) && statSync(part).size > 0);
          kill();
        });
        return () => job.onHalf?.(undefined);
      });
      expect(code).toBe(130);
      expect(digestOf(job.target)).toBe(before);
      expect(statSync(part).size).toBeGreaterThan(0);
      const resumed = network.resumed();
      expect(await run(job.argv, { env: { TMPDIR: job.tmp } })).toMatchObject({ code: 0 });
      expect(network.resumed()).toBe(resumed + 1);
      expect(digestOf(job.target)).toBe(after);
      expect(litterOf(job)).toEqual([]);
    });

    it("ends an aggregator when its clients are answered, and a map half fetched is kept", async () => {
      const map = readFileSync(inputs.map);
      const state = scratchDir();
      let answer: (() => void) | undefined;
      const archive = await localArchive("a", (request, response) => {
        if (request.url === "/map") {
          // The other half never comes.
          response.writeHead(200, { ETag: '"one"', "Content-Length": map.length });
          response.write(map.subarray(0, map.length >> 1));
          return;
        }
        const original = (request.url ?? "").replace(/^\/timemap\/link\//, "");
        answer = () => {
          response.writeHead(200, { "Content-Type": "application/link-format" });
          response.end(linkTimeMap(original, "http://a.test/web/", ["20010101000000"]));
        };
      });
      const listed = { archive: { ...archive.archive, mementomap: `${archive.url}/map` } };
      const service = await aggregateProcess(["-a", writeList([listed]), "--state", state]);
      await until(() => readdirSync(state).some((name) => name.endsWith(".part")));
      const asked = fetch(`${service.url}/timemap/link/http://b.test/`);
      await until(() => answer !== undefined);
      service.kill(signal);
      await until(() =>
        fetch(`${service.url}/health`).then(
          () => false,
          () => true,
        ),
      );
      answer?.();
      const answered = await asked;
      expect([answered.status, await answered.text()]).toEqual([
        200,
        expect.stringContaining("http://a.test/web/20010101000000/"),
      ]);
      expect(await service.done).toMatchObject({ code: 0 });
      const left = readdirSync(state).filter((name) => !/^answers-1\.mdb(?:-lock)?$/.test(name));
      expect(left.filter((name) => !KEPT.test(name))).toEqual([]);
    });
  },
);
