import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  digestOf,
  fileJobs,
  type Inputs,
  litterOf,
  makeInputs,
  networkJobs,
  type Network,
  reset,
} from "./jobs.ts";
import { run, start } from "./process.ts";

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

describe.skipIf(process.platform === "win32").each(["SIGTERM", "SIGINT"] as const)(
  "%s",
  (signal) => {
    it("at any moment leaves the old or the new, and nothing else", async () => {
      // What is fetched stays, so that the next run goes on: see kills.test.ts.
      for (const job of fileJobs(inputs).filter(
        (_, i) => i % 2 === (signal === "SIGINT" ? 0 : 1),
      )) {
        reset(job);
        const before = digestOf(job.target);
        const env = { TMPDIR: job.tmp };
        const { ms } = await run(job.argv, { env });
        const after = digestOf(job.target);
        reset(job);
        const { child, ended } = start(job.argv, { env });
        const timer = setTimeout(() => child.kill(signal), ms * Math.random());
        const { code, signal: by, stderr } = await ended;
        clearTimeout(timer);
        const found = digestOf(job.target);
        // Before Node has started, nobody hears the signal but the system.
        const isStopped = code === 130 || by === signal;
        const isSaid = stderr.includes("[MM_INTERRUPTED]") === (code === 130);
        const isRight = isSaid && (isStopped || code === 0);
        expect({ job: job.name, code, by, stderr, isRight }).toMatchObject({ isRight: true });
        expect([before, after]).toContain(found);
        expect({ job: job.name, litter: litterOf(job) }).toEqual({ job: job.name, litter: [] });
      }
    });
  },
);
