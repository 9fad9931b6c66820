/** What one archive says when it is asked. */
export interface Reply {
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
  const stamp = "2016/06/09 12:00:00.123456";
  return sessions
    .flatMap(({ uri, replies }, i) => {
      const id = 1_465_473_600_000 + i;
      const event = (origin: string, role: string, info: string): string =>
        `BENCHMARK: ${stamp} ${id} {"origin": "${origin}", "role": "${role}", "info": "${info}", "start": 1, "end": 2}`;
      return [
        event("AGGREGATOR", "createsess", "Session created"),
        `INFO: ${stamp} Aggregating Mementos for ${uri}`,
        ...replies.map(({ archive, mementos }) =>
          mementos === "error"
            ? event(archive, "timemapfetch", `Network error in ${archive}`)
            : mementos === 0
              ? event(
                  archive,
                  "timemapfetch",
                  `Response error in ${archive}, Status: 404 Not Found`,
                )
              : event(archive, "extractmementos", `${mementos} Mementos extracted from ${archive}`),
        ),
        event("SESSION", "timemap", "Complete"),
      ];
    })
    .map((line) => `${line}\n`)
    .join("");
}
