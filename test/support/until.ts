import { vi } from "vitest";

/** Waits until a condition holds; fails after `timeout` milliseconds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeout: number = 20_000,
): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error(`timed out waiting for: ${String(condition)}`);
    },
    { timeout, interval: 5 },
  );
}
