const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, for one caller in each turn, in the order of calls. Long work that waits
 * for it before each part delays what is short by one part, however many do such work at once.
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
