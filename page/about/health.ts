import { useEffect, useState } from "preact/hooks";
import type { UpstreamState } from "../../src/aggregate/ask/state.ts";
import type { BySpan } from "../../src/aggregate/history.ts";
import type { LearningReport } from "../../src/aggregate/learn/learner.ts";
import type { MapState } from "../../src/aggregate/route/kept-map.ts";
import type { ArchiveCounts, RoutingReport } from "../../src/aggregate/statistics.ts";
import { answered, getJson } from "../maps/map-list.ts";

/** Counts for each minute or hour, the current one last. */
export type SpanCounts = Readonly<Record<"asked" | "spared" | "hits", readonly number[]>>;
export type Span = keyof BySpan<unknown>;

/** The body of `/history.json`. */
export interface History {
  readonly at: string;
  readonly all: BySpan<SpanCounts & { readonly recall: readonly (number | null)[] }>;
  /** By archive id. */
  readonly archives: Readonly<Record<string, BySpan<SpanCounts>>>;
}

export type ArchiveHealth = ArchiveCounts &
  Pick<UpstreamState, "health" | "consecutiveFailures"> & {
    readonly id: string;
    readonly name: string;
    readonly dormantUntil: string | null;
    readonly lastFailure: string | null;
    readonly medianMs?: number;
    readonly p99Ms?: number;
    readonly map: MapHealth | null;
  };

interface MapHealth extends Pick<MapState, "status" | "keys"> {
  readonly packed?: boolean;
  readonly updatedAt: string | null;
  readonly error: string | null;
  readonly contradicted?: { readonly detail: string };
}

/** The members of `/about.json` that are shown. */
export interface Health {
  readonly uptimeSeconds: number;
  readonly routing: RoutingReport & { readonly isOn: boolean };
  readonly learning: LearningReport | null;
  readonly archives: readonly ArchiveHealth[];
  readonly list: { readonly error: string | null } | null;
  readonly settings: Readonly<Record<string, string>>;
}

const EVERY_MS = 3000;

export const HEALTH_PATHS = ["/about.json", "/history.json"] as const;

interface ServiceState {
  readonly health: Health;
  readonly history: History;
}

/** The state that the server rendered. */
function atFirst(): ServiceState | undefined {
  const [health, history] = HEALTH_PATHS.map(answered);
  if (health === undefined || history === undefined) return undefined;
  return { health, history } as ServiceState; // our own server's
}

/** The state of the service, polled while the page is visible. */
export function useHealth(): {
  readonly state: ServiceState | undefined;
  readonly isAway: boolean;
} {
  const [state, setState] = useState(atFirst);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      try {
        const [health, history] = await Promise.all([
          getJson<Health>(HEALTH_PATHS[0], stop.signal),
          getJson<History>(HEALTH_PATHS[1], stop.signal),
        ]);
        setState({ health, history });
        setAway(false);
      } catch {
        // Keep the last state during short outages.
        if (!stop.signal.aborted) setAway(true);
      }
    };
    const refresh = (): void => {
      if (!document.hidden) void load();
    };
    refresh();
    const timer = setInterval(refresh, EVERY_MS);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, []);
  return { state, isAway };
}
