import type { Outcome, Result, Session } from "../../src/aggregate/session.ts";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import type { Decision, RouteReason } from "../../src/aggregate/route/decision.ts";

/** An archive with only its addresses, as in an archive list. */
export function archive(id: string, origin: string = `https://${id}.example`): Archive {
  return {
    id,
    name: `Archive ${id}`,
    timemap: `${origin}/timemap/link/`,
    timegate: `${origin}/timegate/`,
    probability: undefined,
    mementomap: undefined,
    timeoutMs: undefined,
    from: undefined,
    until: undefined,
    concurrency: undefined,
    rate: undefined,
  };
}

export function decision(
  reason: RouteReason,
  isAsked: boolean,
  of: Archive = archive("a"),
): Decision {
  return { archive: of, isAsked, reason, likelihood: 0.5 };
}

export function session(
  options: {
    readonly id?: string;
    readonly uri?: string;
    readonly kind?: Session["kind"];
    readonly reasons?: readonly (readonly [RouteReason, boolean])[];
  } = {},
): Session {
  const { id = "1465473600123456789", uri = "http://example.org/", kind = "timemap" } = options;
  const reasons = options.reasons ?? [["no-map", true]];
  return {
    id,
    kind,
    uri,
    startedAt: 1_465_473_600_123.5,
    decisions: reasons.map(([reason, isAsked], i) => decision(reason, isAsked, archive(`a${i}`))),
  };
}

export function outcome(
  options: Partial<Omit<Outcome, "decision">> & {
    readonly result: Result;
    readonly reason?: RouteReason;
  },
): Outcome {
  const { reason = "no-map", archive: of = archive("a"), ...more } = options;
  return {
    archive: of,
    decision: decision(reason, true, of),
    mementos: more.result === "hit" ? 3 : 0,
    status: more.result === "hit" ? 200 : more.result === "miss" ? 404 : undefined,
    origin: "network",
    ageSeconds: 0,
    code: undefined,
    failure: undefined,
    fault: undefined,
    startedAt: 1_465_473_600_123.5,
    endedAt: 1_465_473_601_323.5,
    ...more,
  };
}
