import type { StaleMap } from "../learn/map-trust.ts";
import type { AggregatorServiceOptions } from "./exchange.ts";
import { type ArchiveStatus, archiveStatuses } from "./open-aggregator.ts";

/** A problem that an operator should know. */
interface HealthProblem {
  /** The affected archive; undefined if the whole service is affected. */
  readonly archive?: string | undefined;
  readonly problem:
    | "dormant"
    | "failing"
    | "map-missing"
    | "map-too-old"
    | "map-contradicted"
    | "map-refused"
    | "list-refused"
    | "recall-missed"
    | "worker-missing";
  readonly detail: string;
}

/** The document of `/health`. */
interface ServiceHealth {
  /**
   * `ok`: no problems. `degraded`: it serves, with problems. `failing`: every archive is dormant or failed
   * at its last query, so that no lookup can succeed.
   */
  readonly status: "ok" | "degraded" | "failing";
  readonly archives: { readonly all: number; readonly awake: number; readonly failing: number };
  readonly problems: readonly HealthProblem[];
}

/** The health of a service, as seen by one of its processes. */
export function serviceHealth(options: AggregatorServiceOptions): ServiceHealth {
  const archives = archiveStatuses(options.open);
  const failing = archives.filter(isFailing).length;
  const problems = [
    ...serviceProblems(options),
    ...archives.flatMap((each) => [...archiveProblems(each)]),
  ];
  const isDown = archives.length > 0 && failing === archives.length;
  return {
    status: isDown ? "failing" : problems.length > 0 ? "degraded" : "ok",
    archives: {
      all: archives.length,
      awake: archives.filter(({ upstream }) => upstream.health === "awake").length,
      failing,
    },
    problems,
  };
}

function isFailing({ upstream }: ArchiveStatus): boolean {
  return upstream.health !== "awake" || upstream.consecutiveFailures > 0;
}

type Problems = Generator<HealthProblem, void, undefined>;

function* serviceProblems({ open, list, processes }: AggregatorServiceOptions): Problems {
  if (list?.error !== undefined) {
    yield { problem: "list-refused", detail: `${list.error}; the previous list stays in use` };
  }
  const { running = 0, wanted = 0 } = processes?.counts ?? {};
  if (running < wanted) {
    const detail = `${running} of ${wanted} workers are running; the others are starting`;
    yield { problem: "worker-missing", detail };
  }
  const { promised = 0, hits, mementos } = open.learner?.report() ?? {};
  for (const [what, recall] of Object.entries({ "answers with mementos": hits, mementos })) {
    // Recall is below the promise, as far as measured. Learning corrects this by itself.
    if (recall === undefined || recall.high >= promised) continue;
    const [low, high] = [recall.low.toFixed(3), recall.high.toFixed(3)];
    const detail = `${low} to ${high} of all ${what} were found recently, less than --recall ${promised}; archives may have changed: more requests are made until the recall is restored`;
    yield { problem: "recall-missed", detail };
  }
}

function* archiveProblems(status: ArchiveStatus): Problems {
  const { upstream, map } = status;
  const archive = status.archive.id;
  const { health, consecutiveFailures, dormantUntil, lastFailure } = upstream;
  if (isFailing(status)) {
    const why = lastFailure === undefined ? "" : `: ${lastFailure}`;
    const times = consecutiveFailures === 1 ? "once" : `${consecutiveFailures} times in a row`;
    const until =
      dormantUntil === undefined ? "" : ` until ${new Date(dormantUntil).toISOString()}`;
    yield health === "awake"
      ? { archive, problem: "failing", detail: `it failed ${times}${why}` }
      : {
          archive,
          problem: "dormant",
          detail: `it failed ${times} and is dormant${until}${why}`,
        };
  }
  if (map === undefined || map.status === "loading") return;
  if (map.contradicted !== undefined) {
    yield { archive, problem: "map-contradicted", detail: contradictionText(map.contradicted) };
  } else if (map.status === "stale") {
    const made = map.updatedAt === undefined ? "" : `, of ${new Date(map.updatedAt).toISOString()}`;
    const detail = `its map${made}, is not trusted about absence`;
    yield { archive, problem: "map-too-old", detail };
  }
  if (map.status === "failed") {
    const detail = `there is no usable map: ${map.error ?? "unknown error"}`;
    yield { archive, problem: "map-missing", detail };
  } else if (map.error !== undefined) {
    const detail = `the previous map stays in use: ${map.error}`;
    yield { archive, problem: "map-refused", detail };
  }
}

/** Describes how answers contradict a map, since when, and the remedy. */
export function contradictionText({ kind, share, since, example }: StaleMap): string {
  // The fraction is a lower bound, and cannot exceed 1.
  const part = share === 1 ? "all or nearly all" : `${Math.floor(share * 100)} % or more`;
  const what =
    kind === "missing"
      ? `misses ${part} of what the archive has`
      : `lists keys of which ${part} are gone`;
  return `since ${new Date(since).toISOString()} answers show that its map ${what}, such as ${example}; the map is not used until it changes: request a new one from the archive, or remove the map from the list`;
}
