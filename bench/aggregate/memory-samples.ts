import { residentBytes } from "./process-usage.ts";

/** The resident set of a process over time. */
export interface MemorySamples {
  /** Ends the sampling. */
  stop(): readonly MemorySample[];
}

export interface MemorySample {
  readonly seconds: number;
  readonly bytes: number;
}

const EVERY_MS = 1000;

/** Looks at the resident set of a process every second. */
export function sampleMemory(pid: number): MemorySamples {
  const begun = performance.now();
  const samples: MemorySample[] = [];
  const timer = setInterval(() => {
    residentBytes(pid).then(
      (bytes) => samples.push({ seconds: (performance.now() - begun) / 1000, bytes }),
      () => clearInterval(timer), // the process is gone
    );
  }, EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

/** How fast memory grows, in bytes a second: the slope of the straight line nearest to the samples. */
export function growthOf(samples: readonly MemorySample[]): number {
  const mean = (of: (sample: MemorySample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const time = mean(({ seconds }) => seconds);
  const size = mean(({ bytes }) => bytes);
  const covariance = mean(({ seconds, bytes }) => (seconds - time) * (bytes - size));
  return covariance / mean(({ seconds }) => (seconds - time) ** 2);
}
