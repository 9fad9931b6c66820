/** What one archive says when it is asked. */
interface Reply {
  readonly archive: string;
  /** Mementos, or an error. */
  readonly mementos: number | "error";
}

export interface Session {
  readonly uri: string;
  readonly replies: readonly Reply[];
}

/** The log of sessions one after the other, as MemGator writes it with `--benchmark`. */
export function memgatorLog(sessions: readonly Session[]): string {
  return interleaved(sessions, { clients: 1, turn: () => 0, hasTimings: true });
}

/**
 * The log of several clients at once, each asking one URI after the other, as MemGator writes
 * it with `--log` alone, or with `--benchmark` too.
 *
 * @param options.turn says whose line comes next
 */
export function interleaved(
  sessions: readonly Session[],
  options: {
    readonly clients: number;
    readonly turn: () => number;
    readonly hasTimings: boolean;
  },
): string {
  const stamp = "2016/06/09 12:00:00.123456";
  const queues = Array.from({ length: options.clients }, (_, client) =>
    sessions.flatMap(({ uri, replies }, i) => {
      if (i % options.clients !== client) return [];
      const event = (origin: string, role: string, info: string): string =>
        `BENCHMARK: ${stamp} ${i + 1} {"origin": "${origin}", "role": "${role}", "info": "${info}", "start": 1, "end": 2}`;
      const begin = `INFO: ${stamp} Aggregating Mementos for ${uri}`;
      if (!options.hasTimings) {
        return [begin, ...replies.map((reply) => `INFO: ${stamp} ${messageOf(reply)}`)];
      }
      return [
        // Our own log writes both at once; in MemGator's another line may come between.
        `${event("AGGREGATOR", "createsess", "Session created")}\n${begin}`,
        ...replies.map((reply) => event(reply.archive, ...eventOf(reply))),
        event("SESSION", "timemap", "Complete"),
      ];
    }),
  );
  const lines: string[] = [];
  for (let left = queues; left.length > 0; left = left.filter((queue) => queue.length > 0)) {
    const next = left[options.turn() % left.length]?.shift();
    if (next !== undefined) lines.push(next);
  }
  return lines.map((line) => `${line}\n`).join("");
}

function messageOf({ archive, mementos }: Reply): string {
  if (mementos === "error") return `${archive} => Network error: timeout`;
  return mementos === 0
    ? `${archive} => Response error: 404 Not Found`
    : `${archive} => Success: ${mementos} mementos`;
}

function eventOf({ archive, mementos }: Reply): [role: string, info: string] {
  if (mementos === "error") return ["timemapfetch", `Network error in ${archive}`];
  return mementos === 0
    ? ["timemapfetch", `Response error in ${archive}, Status: 404`]
    : ["extractmementos", `${mementos} Mementos extracted from ${archive}`];
}
