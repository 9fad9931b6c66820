import { performance } from "node:perf_hooks";

/** How long the event loop is watched before it is judged. */
const PERIOD_MS = 50;

/** The share of its time that the event loop was busy since the last answer; undefined if that is not long ago. */
export function loopUtilization(): () => number | undefined {
  let since = performance.eventLoopUtilization();
  let sinceMs = performance.now();
  return () => {
    const now = performance.now();
    if (now - sinceMs < PERIOD_MS) return undefined;
    const total = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(total, since);
    since = total;
    sinceMs = now;
    return utilization;
  };
}
