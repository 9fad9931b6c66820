const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, one caller per turn, in call order. Long-running work that awaits
 * it before
 * each chunk delays short requests by one chunk at most, however many such tasks run concurrently.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(release);
  });
}

function release(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(release);
}
