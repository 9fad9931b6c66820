import { vi } from "vitest";

/** Waits until something holds, and fails when it still does not after `timeout` milliseconds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeout: number = 20_000,
): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error(`never came to hold: ${String(condition)}`);
    },
    { timeout, interval: 5 },
  );
}

/**
 * Waits until a number stays the same for 200 turns of the event loop, in which everything that can
 * go on without a timer has gone on.
 */
export async function untilSteady(number: () => number): Promise<void> {
  let [last, turns] = [number(), 0];
  while (turns < 200) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    turns = number() === last ? turns + 1 : 0;
    last = number();
  }
}
