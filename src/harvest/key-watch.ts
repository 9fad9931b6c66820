/** What is remembered of the resume keys of a server. */
export interface KeyWatch {
  /** A key that was given before. */
  readonly key: string;
  /** How many others were given since. */
  readonly since: number;
  /** After so many another key is remembered. */
  readonly until: number;
}

/**
 * Takes the next resume key into account; undefined when it leads back to where the harvest was.
 *
 * Remembers one key, and each for twice as long as the one before (Brent's algorithm), so that a
 * circle is seen after at most three times as many keys as there are to its end, however long it is.
 */
export function watchKey(watch: KeyWatch | undefined, key: string): KeyWatch | undefined {
  if (watch === undefined) return { key, since: 0, until: 1 };
  if (watch.key === key) return undefined;
  const since = watch.since + 1;
  return since < watch.until ? { ...watch, since } : { key, since: 0, until: watch.until * 2 };
}
