import { useEffect, useState } from "preact/hooks";
import type { BySpan } from "../../src/aggregate/history.ts";
import { answered, getJson } from "../maps/map-list.ts";

/** A share and the range it lies in. */
interface Share {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Counts for each minute or hour, the current one last. */
export interface SpanCounts {
  readonly asked: readonly number[];
  readonly spared: readonly number[];
  readonly hits: readonly number[];
}

/** What `/history.json` says. */
export interface History {
  readonly all: BySpan<SpanCounts & { readonly recall: readonly (number | null)[] }>;
  /** By the ids of archives. */
  readonly archives: Readonly<Record<string, BySpan<SpanCounts>>>;
}

export type Span = keyof History["all"];

export interface Learning {
  readonly promised: number;
  readonly lookups: number;
  readonly answers: number;
  readonly hits?: Share | null;
  readonly mementos?: Share | null;
  readonly spared: readonly { readonly lookups: number; readonly share: number }[];
  /** What is kept of the hits of each archive. */
  readonly archives?: readonly { readonly id: string; readonly hits?: Share | null }[];
}

export interface ArchiveHealth {
  readonly id: string;
  readonly name: string;
  readonly health: "awake" | "probing" | "dormant";
  readonly dormantUntil: string | null;
  readonly consecutiveFailures: number;
  readonly lastFailure: string | null;
  readonly asked: number;
  readonly hits: number;
  readonly misses: number;
  readonly errors: number;
  readonly skipped: number;
  readonly medianMs?: number;
  readonly p99Ms?: number;
  readonly map: {
    readonly status: "ready" | "loading" | "stale" | "failed";
    readonly keys: number;
    readonly packed?: boolean;
    readonly updatedAt: string | null;
    readonly error: string | null;
    readonly contradicted?: { readonly detail: string };
  } | null;
}

/** What `/about.json` says, as far as it is shown. */
export interface Health {
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly routing: {
    readonly isOn: boolean;
    readonly sessions: number;
    readonly asked: number;
    readonly spared: number;
    readonly saved: number;
    readonly recall?: Share;
  };
  readonly learning: Learning | null;
  readonly archives: readonly ArchiveHealth[];
  readonly list: { readonly takenAt: string; readonly error: string | null } | null;
  readonly settings: Readonly<Record<string, string>>;
}

const EVERY_MS = 3000;

export const HEALTH_PATHS = ["/about.json", "/history.json"] as const;

interface State {
  readonly health: Health;
  readonly history: History;
  readonly at: Date;
}

/** What the server rendered. */
function atFirst(): State | undefined {
  // Our own server's.
  const health = answered(HEALTH_PATHS[0]) as Health | undefined;
  const history = answered(HEALTH_PATHS[1]) as (History & { readonly at: string }) | undefined;
  if (health === undefined || history === undefined) return undefined;
  return { health, history, at: new Date(history.at) };
}

/** The state of the service, asked for again and again while the page is in sight. */
export function useHealth(): {
  readonly health: Health | undefined;
  readonly history: History | undefined;
  /** When it was so. */
  readonly at: Date | undefined;
  readonly isAway: boolean;
} {
  const [state, setState] = useState(atFirst);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const refresh = async (): Promise<void> => {
      try {
        const [health, history] = await Promise.all([
          getJson<Health>(HEALTH_PATHS[0], stop.signal),
          getJson<History>(HEALTH_PATHS[1], stop.signal),
        ]);
        setState({ health, history, at: new Date() });
        setAway(false);
      } catch {
        // It may be away for a moment; what is shown stays.
        if (!stop.signal.aborted) setAway(true);
      }
    };
    const again = (): void => {
      if (!document.hidden) void refresh();
    };
    void refresh();
    const timer = setInterval(again, EVERY_MS);
    document.addEventListener("visibilitychange", again);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, []);
  return { health: state?.health, history: state?.history, at: state?.at, isAway };
}
