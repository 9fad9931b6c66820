import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import {
  digestOf,
  fileJobs,
  type Inputs,
  type Job,
  litterOf,
  makeInputs,
  networkJobs,
  reset,
} from "./jobs.ts";
import { type Ended, run, start } from "./process.ts";

const JOBS = 14;
/** Kills in all; by hand, 200 and more. */
const KILLS = Number(process.env["MEMENTOMAP_KILLS"] ?? JOBS * 4);
/** Some at random moments, and some at changes of the file system. */
const KILLS_PER_JOB = Math.ceil(KILLS / JOBS / 2);
const NAMED_PER_JOB = Math.ceil(KILLS / JOBS / 2);
const KILL_AT = fileURLToPath(new URL("kill-at.mjs", import.meta.url));

let inputs: Inputs;
let network: Awaited<ReturnType<typeof networkJobs>>;
let jobs: Job[];
const tally = { kills: 0, old: 0, new: 0, half: 0, unclean: 0 };

beforeAll(async () => {
  inputs = await makeInputs(30_000);
  network = await networkJobs(inputs);
  jobs = [...fileJobs(inputs), ...network.jobs];
});

afterAll(() => {
  network.close();
  inputs.close();
  process.stdout.write(`killed: ${JSON.stringify(tally)}\n`);
});

function envOf(job: Job): Record<string, string> {
  return { TMPDIR: job.tmp };
}

/** Runs a job from the beginning, undisturbed. */
async function whole(job: Job): Promise<Ended & { readonly digest: string }> {
  reset(job);
  const ended = await run(job.argv, { env: envOf(job) });
  expect({ job: job.name, ...ended }).toMatchObject({ code: 0 });
  expect(litterOf(job)).toEqual([]);
  return { ...ended, digest: digestOf(job.target) };
}

/** What must hold after a kill, and after the run that follows it. */
async function checkAfterKill(
  job: Job,
  before: string,
  after: string,
  when: string,
): Promise<void> {
  const found = digestOf(job.target);
  tally.kills++;
  if (found === before) tally.old++;
  else if (found === after) tally.new++;
  else tally.half++;
  const killed = `${job.name}, killed ${when}`;
  expect({ killed, isWhole: found === before || found === after }).toEqual({
    killed,
    isWhole: true,
  });
  if (job.isNew === true) rmSync(job.target, { recursive: true, force: true });
  const next = await run(job.argv, { env: envOf(job) });
  const litter = litterOf(job);
  if (litter.length > 0) tally.unclean++;
  expect({ killed, ...next, digest: digestOf(job.target), litter }).toMatchObject({
    code: 0,
    digest: after,
    litter: [],
  });
}

describe.skipIf(process.platform === "win32").each(Array.from({ length: JOBS }, (_, i) => i))(
  "job %i",
  (number) => {
    it("leaves the old or the new when killed at any moment, and the next run cleans up", async () => {
      const job = jobs[number];
      const { digest: after, ms } = await whole(job);
      reset(job);
      const before = digestOf(job.target);
      expect(after).not.toBe(before);
      for (let i = 0; i < KILLS_PER_JOB; i++) {
        reset(job);
        const { child, ended } = start(job.argv, { env: envOf(job) });
        const moment = (ms * (i + Math.random())) / KILLS_PER_JOB;
        const timer = setTimeout(() => child.kill("SIGKILL"), moment);
        const { signal } = await ended;
        clearTimeout(timer);
        const when = `after ${moment.toFixed(0)} of ${ms.toFixed(0)} ms (${signal ?? "too late"})`;
        await checkAfterKill(job, before, after, when);
      }
    });

    it("leaves the old or the new when killed before or after any change of a name", async () => {
      const job = jobs[number];
      const { digest: after } = await whole(job);
      reset(job);
      const before = digestOf(job.target);
      const killedAt = async (at: string): Promise<boolean> => {
        reset(job);
        const { signal } = await run(job.argv, { env: { ...envOf(job), ...killing(at) } });
        if (signal !== "SIGKILL") return false;
        await checkAfterKill(job, before, after, `at change ${at}`);
        return true;
      };
      // Those at the end, where files get their names, and some of the others.
      const changes = await countChanges(job);
      const all = Array.from({ length: changes }, (_, i) => changes - i);
      const moments = all.flatMap((at) => [`${at}+`, `${at}`]);
      const last = moments.slice(0, Math.ceil(NAMED_PER_JOB / 2));
      const drawn = moments.slice(last.length).sort(() => Math.random() - 0.5);
      let killed = 0;
      for (const at of [...last, ...drawn].slice(0, NAMED_PER_JOB)) {
        if (await killedAt(at)) killed++;
      }
      expect(killed).toBeGreaterThan(0);
    });
  },
);

it.skipIf(process.platform === "win32")("a killed fetch goes on with half a download", async () => {
  const job = jobs.find(({ onHalf }) => onHalf !== undefined) as Job;
  const { digest: after } = await whole(job);
  reset(job);
  const before = digestOf(job.target);
  const { child, ended } = start(job.argv, { env: envOf(job) });
  const part = join(job.target, "..", ".map.ukvs.part");
  job.onHalf?.(async () => {
    await until(() => existsSync(part) && statSync(part).size > 0);
    child.kill("SIGKILL");
  });
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
  job.onHalf?.(undefined);
  const resumed = network.resumed();
  await checkAfterKill(job, before, after, "with half a download");
  expect(network.resumed()).toBe(resumed + 1);
});

/** How many changes of the file system a job makes. */
async function countChanges(job: Job): Promise<number> {
  reset(job);
  const counted = join(inputs.folder, "count");
  await run(job.argv, { env: { ...envOf(job), ...killing("0"), COUNT_TO: counted } });
  return Number(readFileSync(counted, "utf8"));
}

function killing(at: string): Record<string, string> {
  return { KILL_AT: at, NODE_OPTIONS: `--import ${KILL_AT}` };
}
