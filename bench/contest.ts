import type { TimedRun } from "./peers/timed.ts";

/** One way to do a task. */
export interface Contestant {
  readonly name: string;
  readonly run: () => Promise<TimedRun>;
}

/** How one way did over all rounds. */
export interface Standing {
  readonly name: string;
  readonly bestSeconds: number;
  readonly medianSeconds: number;
  /** The least processor time of all rounds, on all cores together. */
  readonly cpuSeconds: number | undefined;
  /** The largest resident set of all rounds. */
  readonly peakBytes: number | undefined;
}

/**
 * Runs everyone once a round, in turn, so that a busy spell of the machine meets all of them.
 *
 * Runs in order of the list; later ones may use what earlier ones wrote.
 */
export async function contest(
  contestants: readonly Contestant[],
  rounds: number,
): Promise<Standing[]> {
  const runs = contestants.map((): TimedRun[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { run }] of contestants.entries()) runs[i].push(await run());
  }
  return contestants.map(({ name }, i) => standing(name, runs[i]));
}

function standing(name: string, runs: readonly TimedRun[]): Standing {
  const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b);
  const cpu = runs.flatMap(({ cpuSeconds }) => cpuSeconds ?? []);
  const peaks = runs.flatMap(({ peakBytes }) => peakBytes ?? []);
  return {
    name,
    bestSeconds: seconds[0],
    medianSeconds: seconds[Math.floor(seconds.length / 2)],
    cpuSeconds: cpu.length === 0 ? undefined : Math.min(...cpu),
    peakBytes: peaks.length === 0 ? undefined : Math.max(...peaks),
  };
}
