import { performance } from "node:perf_hooks";

/** Above this utilization more requests under way only make every turn of the event loop longer. */
export const SATURATED = 0.98;
/** Below this one there is time for more. */
export const FREE = 0.95;

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

/** Whether the event loop has time for more, as it was lately. */
export function loopHasTime(): () => boolean {
  const utilization = loopUtilization();
  let hasTime = true;
  return () => {
    const lately = utilization();
    if (lately !== undefined) hasTime = lately < FREE;
    return hasTime;
  };
}
