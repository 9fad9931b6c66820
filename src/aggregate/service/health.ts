import type { StaleMap } from "../learn/map-trust.ts";
import type { ListState } from "../route/archive-list.ts";
import type { AggregatorServiceOptions } from "./exchange.ts";
import type { WorkerCounts } from "./cluster.ts";
import {
  type ArchiveStatus,
  archiveStatuses,
  learningOf,
  type OpenAggregator,
} from "./open-aggregator.ts";

/** Something that an operator should know. */
interface HealthProblem {
  /** The archive it is about; none for what is about the service. */
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

/** How the service is: what `/health` says. */
interface ServiceHealth {
  /**
   * `ok`: there is nothing to say. `degraded`: it answers, with problems. `failing`: every archive is
   * dormant or failed when it was last asked, so that no question can be answered.
   */
  readonly status: "ok" | "degraded" | "failing";
  readonly archives: { readonly all: number; readonly awake: number; readonly failing: number };
  readonly problems: readonly HealthProblem[];
}

/** How a service is, as one of its processes sees it. */
export function serviceHealth({ open, list, processes }: AggregatorServiceOptions): ServiceHealth {
  const archives = archiveStatuses(open);
  const failing = archives.filter(isFailing);
  const problems = [
    ...listProblems(list),
    ...workerProblems(processes?.counts),
    ...recallProblems(open),
    ...archives.flatMap((archive) => [...archiveProblems(archive), ...mapProblems(archive)]),
  ];
  const isDown = archives.length > 0 && failing.length === archives.length;
  return {
    status: isDown ? "failing" : problems.length > 0 ? "degraded" : "ok",
    archives: {
      all: archives.length,
      awake: archives.filter(({ upstream }) => upstream.health === "awake").length,
      failing: failing.length,
    },
    problems,
  };
}

function isFailing({ upstream }: ArchiveStatus): boolean {
  return upstream.health !== "awake" || upstream.consecutiveFailures > 0;
}

function listProblems(list: ListState | undefined): HealthProblem[] {
  if (list?.error === undefined) return [];
  return [{ problem: "list-refused", detail: `${list.error}; the list before stays in use` }];
}

function workerProblems(workers: WorkerCounts | undefined): HealthProblem[] {
  if (workers === undefined || workers.running >= workers.wanted) return [];
  const { running, wanted } = workers;
  const detail = `${running} of ${wanted} workers run; the others are being started`;
  return [{ problem: "worker-missing", detail }];
}

/** Less is kept than was promised, as far as measuring can tell. Learning corrects it by itself. */
function recallProblems(open: OpenAggregator): HealthProblem[] {
  const { promised = 0, hits, mementos } = learningOf(open) ?? {};
  const kept = [
    ["answers with mementos", hits],
    ["mementos", mementos],
  ] as const;
  return kept.flatMap(([what, recall]) => {
    if (recall === undefined || recall.high >= promised) return [];
    const [low, high] = [recall.low.toFixed(3), recall.high.toFixed(3)];
    const detail = `${low} to ${high} of all ${what} were kept lately, not the ${promised} of --recall; archives may have changed: more of them are asked until it is kept`;
    return [{ problem: "recall-missed" as const, detail }];
  });
}

function archiveProblems(each: ArchiveStatus): HealthProblem[] {
  if (!isFailing(each)) return [];
  const { archive, upstream } = each;
  const { health, consecutiveFailures, dormantUntil, lastFailure } = upstream;
  const why = lastFailure === undefined ? "" : `: ${lastFailure}`;
  const times = consecutiveFailures === 1 ? "once" : `${consecutiveFailures} times in a row`;
  if (health === "awake") {
    return [{ archive: archive.id, problem: "failing", detail: `it failed ${times}${why}` }];
  }
  const until = dormantUntil === undefined ? "" : ` until ${new Date(dormantUntil).toISOString()}`;
  const detail = `it failed ${times} and is dormant${until}${why}`;
  return [{ archive: archive.id, problem: "dormant", detail }];
}

function mapProblems({ archive, map }: ArchiveStatus): HealthProblem[] {
  if (map === undefined || map.status === "loading") return [];
  const problems: HealthProblem[] = [];
  const add = (problem: HealthProblem["problem"], detail: string): void => {
    problems.push({ archive: archive.id, problem, detail });
  };
  if (map.contradicted !== undefined) {
    add("map-contradicted", contradictionText(map.contradicted));
  } else if (map.status === "stale") {
    const made = map.updatedAt === undefined ? "" : `, of ${new Date(map.updatedAt).toISOString()}`;
    add("map-too-old", `its map${made}, is not used for what it says to be absent`);
  }
  if (map.status === "failed") {
    add("map-missing", `there is no usable map: ${map.error ?? "not known why"}`);
  } else if (map.error !== undefined) {
    add("map-refused", `the map before stays in use: ${map.error}`);
  }
  return problems;
}

/** What is wrong with a map that answers contradict, since when, and what to do about it. */
export function contradictionText({ kind, share, since, example }: StaleMap): string {
  // It is a lower bound, and there is no more than all.
  const part = share === 1 ? "all or nearly all" : `${Math.floor(share * 100)} % or more`;
  const what =
    kind === "missing"
      ? `misses ${part} of what the archive has`
      : `lists keys of which ${part} are gone`;
  return `since ${new Date(since).toISOString()} answers say that its map ${what}, such as ${example}; what was learnt decides until the map changes: ask the archive for a new one, or take it out of the list`;
}
